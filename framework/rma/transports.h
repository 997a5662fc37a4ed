#pragma once
#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/plugin/transport.h"

namespace ashlar {
class RmaWindow;
}

/// Transports, for components that use their remote memory.
namespace ashlar::rma {

/// The way of a transport to a process.
struct TransportWay {
  ashlar_endpoint* endpoint = nullptr;
  ashlar_iface* iface = nullptr;
  const char* transport = "";  // the component's name
};

/// The transport that leads to a rank of the window, connected. Under the lane's lock.
Status transport_to(RmaWindow& window, Rank rank, TransportWay* out);

}  // namespace ashlar::rma
