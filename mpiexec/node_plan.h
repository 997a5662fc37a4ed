#pragma once
#include <string>

#include "mpiexec/node_map.h"
#include "mpiexec/options.h"

namespace ashlar::mpiexec {

/// Which rank goes to which host, by the options alone. Hosts get ranks in the order in which they are named, as many
/// as they have slots, and once more from the beginning when there are more ranks. Where no host has a number of slots,
/// the ranks are divided evenly, in blocks. A map without a table: all ranks are on this host.
NodeMap plan_nodes(const Options& options, const std::string& own_host);

}  // namespace ashlar::mpiexec
