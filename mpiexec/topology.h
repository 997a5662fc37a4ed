#pragma once
#include <optional>
#include <string>
#include <vector>

namespace ashlar::mpiexec {

/// One hardware thread this process may use. Numbers of core, numa and socket are logical and dense, in hwloc's order.
struct Cpu {
  unsigned os;  // the kernel's number, for sched_setaffinity
  unsigned core, numa, socket;
};

struct Topology {
  std::vector<Cpu> cpus;  // in topological order: neighbours share most
  bool real = true;       // false: a made-up topology (HWLOC_SYNTHETIC), to look at but not to bind to
  unsigned cores() const;
};

/// Cores worth of time that the control group grants, when it is limited below the number of cores.
std::optional<double> cpu_quota();

/// Reads the node with hwloc, cut down to the allowed threads: processors, cores, packages and NUMA nodes only, no
/// PCI, no caches, no plug-ins. When hwloc fails each allowed thread counts as a core and `note` says why.
Topology discover(std::string* note);

}  // namespace ashlar::mpiexec
