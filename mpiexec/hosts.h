#pragma once
#include <string>

#include "framework/base/status.h"

/// Ranks are started on this machine only; scripts may name it all the same.
namespace ashlar::mpiexec {

/// Fails when "node1,node2:4" names another machine. The number behind a colon says how many ranks a host takes, which
/// one machine does not need.
Status check_hosts(const std::string& list);

/// The same of a file with a host on each line, as other launchers read it: "node1:4", "node1 slots=4", # comments.
/// What stands behind the host must be known, or a script that means something by it would not get it.
Status check_host_file(const std::string& path);

}  // namespace ashlar::mpiexec
