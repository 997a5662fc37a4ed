#pragma once
#include <vector>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/topo/match.h"

namespace ashlar {
class Comm;
}
namespace ashlar::topo {

/// Which ranks of `comm` take the nodes 0 ... of `pattern`, when they may change: those that lie well on the hardware.
/// `what`: for the record of the decision. Collective over `comm`; every rank gives the same pattern.
Status place(Comm& comm, const Pattern& pattern, const char* what, std::vector<Rank>* order);

/// The node of `pattern` that this process should take, or MPI_UNDEFINED, by what every process knows without asking:
/// on which machine each rank runs. Local, as MPI_Cart_map and MPI_Graph_map are.
Rank map(const Comm& comm, const Pattern& pattern);

}  // namespace ashlar::topo
