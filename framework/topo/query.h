#pragma once
#include "framework/base/status.h"
#include "framework/object/topology.h"

namespace ashlar {
class Comm;
}
namespace ashlar::topo {

/// The topology of `comm`, of the form that a call asks for; MPI_ERR_TOPOLOGY with what it is instead.
Status cart_of(const Comm& comm, const CartTopology** cart);
Status graph_of(const Comm& comm, const GraphTopology** graph);
Status dist_graph_of(const Comm& comm, const DistGraphTopology** graph);

}  // namespace ashlar::topo
