#pragma once
#include <pmix_server.h>

#include "mpiexec/pmix_message.h"

namespace ashlar::mpiexec {

/// Events, further jobs, and queries.
void fill_requests(pmix_server_module_t* module);

/// An event that another server's client has told of, or another server: for the clients of this one.
void tell_clients(const PmixMessage& event);

}  // namespace ashlar::mpiexec
