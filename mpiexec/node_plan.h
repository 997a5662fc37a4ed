#pragma once
#include <string>
#include <vector>

#include "mpiexec/node_map.h"
#include "mpiexec/options.h"

namespace ashlar::mpiexec {

/// Which rank goes to which host, by the options alone. Hosts get ranks in the order in which they are named, as many
/// as they have slots, and once more from the beginning when there are more ranks. Where no host has a number of slots,
/// the ranks are divided evenly, in blocks. A further job begins with the slots that are free. A map without a table:
/// all ranks are on this host.
NodeMap plan_nodes(const Options& options, const std::string& own_host);

/// A host of the command line, for --check.
struct PlannedHost {
  std::string name;
  bool here = false;
  std::vector<unsigned> segments;  // whose ranks may run there
};
/// All hosts that the options name, in that order; this host where they name none. Whether a job of so many ranks would
/// use all of them makes no difference.
std::vector<PlannedHost> plan_check(const Options& options, const std::string& own_host);

}  // namespace ashlar::mpiexec
