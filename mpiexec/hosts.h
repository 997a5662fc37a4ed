#pragma once
#include <string>
#include <vector>

#include "framework/base/status.h"

namespace ashlar::mpiexec {

/// A host that ranks may run on, as the user names it.
struct HostSlots {
  std::string name;
  unsigned slots = 0;     // how many ranks it takes; 0: the user has not said
  std::string arch = {};  // what kind of machine it is; "": the user has not said
};

/// Whether the name is that of the machine that mpiexec runs on. Nothing is resolved: a name that only leads here is
/// another host.
bool is_this_host(const std::string& name);

/// Whether two names are of one machine, as far as names say it.
bool is_same_host(const std::string& one, const std::string& other);

/// Adds the hosts of "node1,node2:4". A host that is named again has the slots of both.
Status read_hosts(const std::string& list, std::vector<HostSlots>* hosts);

/// The same of a file with a host on each line, as other launchers read it: "node1:4", "node1 slots=4", # comments.
/// What stands behind the host must be known, or a script that means something by it would not get it.
Status read_host_file(const std::string& path, std::vector<HostSlots>* hosts);

}  // namespace ashlar::mpiexec
