#pragma once
#include "components/transport/tcp/config.h"
#include "framework/base/ip_interfaces.h"
#include "framework/base/ip_socket.h"

namespace ashlar::tcp {

using namespace ip;

/// Messages leave at once, and a host that answers no more is noticed.
void prepare(int socket, const Config& config);

}  // namespace ashlar::tcp
