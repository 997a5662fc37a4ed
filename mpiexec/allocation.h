#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/status.h"
#include "mpiexec/hosts.h"

namespace ashlar::mpiexec {

/// The nodes that Slurm has given to the job in which mpiexec runs, with the tasks of each as slots; none outside of
/// one. From the environment alone: no command of Slurm's is run, and its controller is not asked.
/// Fails, naming the variable, when what stands there is no list of nodes.
Status read_allocation(const char* const* environment, std::vector<HostSlots>* hosts);

/// "n[01-03,7],m5" as n01, n02, n03, n7, m5. False: it is no such list, or one of more than a million nodes.
bool expand_nodes(std::string_view list, std::vector<std::string>* names);

/// "2(x3),1" as 2, 2, 2, 1. False: it is no such list.
bool expand_counts(std::string_view list, std::vector<unsigned>* counts);

}  // namespace ashlar::mpiexec
