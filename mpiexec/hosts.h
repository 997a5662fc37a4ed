#pragma once
#include <string>

/// Ranks are started on this machine only; scripts may name it all the same.
namespace ashlar::mpiexec {

/// Whether "node1,node2:4" names no other machine. The number behind a colon says how many ranks a host takes, which
/// no rank needs here.
bool all_this_host(const std::string& list, std::string* why_not);

/// The same of a file with a host on each line, as other launchers read it: "node1:4", "node1 slots=4", # comments.
/// What stands behind the host must be known, or a script that means something by it would not get it.
bool host_file_is_this_host(const std::string& path, std::string* why_not);

}  // namespace ashlar::mpiexec
