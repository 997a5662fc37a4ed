#pragma once
#include "mpiexec/options.h"
#include "mpiexec/placement.h"
#include "mpiexec/settings.h"

namespace ashlar::mpiexec {

/// Which cores `ranks` ranks of this node get. With a made-up machine (HWLOC_SYNTHETIC) nothing is bound.
Placement decide_placement(const Options& options, const Settings& settings, unsigned ranks);

/// Prints what --explain, --report-bindings and --show-placement ask for. `words`: of all ranks, where each is bound;
/// `hosts`: the name of each rank's host, or empty in a job of one. `ways`: how the hosts are reached, or empty.
void report_placement(const Options& options, const Placement& placement, const std::vector<std::string>& words,
                      const std::vector<std::string>& hosts, const std::string& ways);

/// Prints what --explain=launch asks for of the PMIx servers: on how many hosts there are some, and `why`; `most`:
/// bytes in a fence.
void report_pmix(const Options& options, unsigned hosts, const std::string& why, std::uint64_t most);

}  // namespace ashlar::mpiexec
