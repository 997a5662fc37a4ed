#pragma once
#include <string>
#include <vector>

#include "mpiexec/options.h"
#include "mpiexec/topology.h"

namespace ashlar::mpiexec {

/// Where the ranks go. Decided before anything starts; never a reason not to start.
struct Placement {
  std::vector<std::vector<unsigned>> cpus;  // per rank: the kernel's numbers; empty: not bound
  std::vector<std::string> words;           // per rank, for people: "core 3", "cores 0-3", "not bound"
  bool bound = false;
  bool oversubscribed = false;
  std::string what;     // "equal shares of the cores"
  std::string because;  // why so
  std::string lost;     // what else was considered, and why not
};

/// Whether the topology is needed at all: not when nothing will be bound whatever it says.
bool needs_topology(BindTo bind, unsigned ranks, unsigned allowed);

/// `cores`: how many ranks can run at once, from topology and quota.
Placement place(const Topology& topology, unsigned ranks, double quota, BindTo bind, MapBy map);

/// For when needs_topology() says no.
Placement place_unbound(unsigned ranks, unsigned allowed, double quota, BindTo bind);

}  // namespace ashlar::mpiexec
