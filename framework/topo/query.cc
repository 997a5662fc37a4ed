// What a communicator's topology is, and which rank has which place in it.
#include "framework/topo/query.h"

#include <mpi.h>

#include <algorithm>

#include "framework/base/failure.h"
#include "framework/object/comm.h"
#include "framework/topo/api.h"

namespace ashlar::topo {
namespace {

template <class T>
Status topology_of(const Comm& comm, int form, const char* wanted, const T** out) {
  const Topology* const topology = comm.topology.get();
  if (topology && topology->form() == form) {
    *out = static_cast<const T*>(topology);
    return {};
  }
  const int is = topology ? topology->form() : MPI_UNDEFINED;
  return fail(MPI_ERR_TOPOLOGY, "topology.other",
              {{"communicator", comm.name},
               {"found", is == MPI_CART         ? "a Cartesian"
                         : is == MPI_GRAPH      ? "a graph"
                         : is == MPI_DIST_GRAPH ? "a distributed graph"
                                                : "no"},
               {"wanted", wanted}});
}

Status check_rank(const Comm& comm, int rank) {
  if (rank >= 0 && rank < comm.size) return {};
  return fail(MPI_ERR_RANK, "argument.rank",
              {{"argument", "rank"}, {"value", rank}, {"communicator", comm.name}, {"last", comm.size - 1}});
}

/// As much of `values` as the caller has room for.
template <class Values>
void give(const Values& values, int room, int* out) {
  std::copy_n(values.begin(), std::min<std::size_t>(values.size(), static_cast<std::size_t>(room)), out);
}

}  // namespace

Status cart_of(const Comm& comm, const CartTopology** cart) {
  return topology_of(comm, MPI_CART, "a Cartesian one", cart);
}
Status graph_of(const Comm& comm, const GraphTopology** graph) {
  return topology_of(comm, MPI_GRAPH, "a graph", graph);
}
Status dist_graph_of(const Comm& comm, const DistGraphTopology** graph) {
  return topology_of(comm, MPI_DIST_GRAPH, "a distributed graph", graph);
}

Status test(Comm& comm, int* status) {
  *status = comm.topology ? comm.topology->form() : MPI_UNDEFINED;
  return {};
}

Status cartdim_get(Comm& comm, int* ndims) {
  const CartTopology* cart = nullptr;
  ASHLAR_TRY(cart_of(comm, &cart));
  *ndims = cart->ndims();
  return {};
}

Status cart_get(Comm& comm, int maxdims, int dims[], int periods[], int coords[]) {
  const CartTopology* cart = nullptr;
  ASHLAR_TRY(cart_of(comm, &cart));
  give(cart->dims, maxdims, dims);
  give(cart->periods, maxdims, periods);
  give(cart->own, maxdims, coords);
  return {};
}

Status cart_rank(Comm& comm, const int coords[], int* rank) {
  const CartTopology* cart = nullptr;
  ASHLAR_TRY(cart_of(comm, &cart));
  if (!coords && cart->ndims() > 0) return fail(MPI_ERR_ARG, "argument.null", {{"argument", "coords"}});
  int bad = 0;
  const Rank found = cart->rank_at(coords, &bad);
  if (found < 0)
    return fail(MPI_ERR_ARG, "argument.element_range",
                {{"argument", "coords"},
                 {"index", bad},
                 {"value", coords[bad]},
                 {"first", 0},
                 {"last", cart->dims[static_cast<std::size_t>(bad)] - 1},
                 {"note", "That dimension is not periodic"}});
  *rank = found;
  return {};
}

Status cart_coords(Comm& comm, int rank, int maxdims, int coords[]) {
  const CartTopology* cart = nullptr;
  ASHLAR_TRY(cart_of(comm, &cart));
  ASHLAR_TRY(check_rank(comm, rank));
  give(cart->coordinates(rank), maxdims, coords);
  return {};
}

Status cart_shift(Comm& comm, int direction, int disp, int* source, int* dest) {
  const CartTopology* cart = nullptr;
  ASHLAR_TRY(cart_of(comm, &cart));
  if (direction < 0 || direction >= cart->ndims())
    return fail(MPI_ERR_DIMS, "argument.index",
                {{"argument", "direction"},
                 {"value", direction},
                 {"whole", "the grid"},
                 {"count", cart->ndims()},
                 {"parts", "dimensions"}});
  *source = cart->beside(cart->own, direction, -static_cast<long long>(disp));
  *dest = cart->beside(cart->own, direction, disp);
  return {};
}

Status graphdims_get(Comm& comm, int* nnodes, int* nedges) {
  const GraphTopology* graph = nullptr;
  ASHLAR_TRY(graph_of(comm, &graph));
  *nnodes = graph->nodes();
  *nedges = static_cast<int>(graph->edges.size());
  return {};
}

Status graph_get(Comm& comm, int maxindex, int maxedges, int indx[], int edges[]) {
  const GraphTopology* graph = nullptr;
  ASHLAR_TRY(graph_of(comm, &graph));
  give(graph->index, maxindex, indx);
  give(graph->edges, maxedges, edges);
  return {};
}

Status graph_neighbors_count(Comm& comm, int rank, int* count) {
  const GraphTopology* graph = nullptr;
  ASHLAR_TRY(graph_of(comm, &graph));
  ASHLAR_TRY(check_rank(comm, rank));
  *count = static_cast<int>(graph->neighbours(rank).size());
  return {};
}

Status graph_neighbors(Comm& comm, int rank, int maxneighbors, int neighbors[]) {
  const GraphTopology* graph = nullptr;
  ASHLAR_TRY(graph_of(comm, &graph));
  ASHLAR_TRY(check_rank(comm, rank));
  give(graph->neighbours(rank), maxneighbors, neighbors);
  return {};
}

Status dist_graph_neighbors_count(Comm& comm, int* indegree, int* outdegree, int* weighted) {
  const DistGraphTopology* graph = nullptr;
  ASHLAR_TRY(dist_graph_of(comm, &graph));
  *indegree = graph->indegree();
  *outdegree = graph->outdegree();
  *weighted = graph->weighted;
  return {};
}

Status dist_graph_neighbors(Comm& comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                            int destinations[], int destweights[]) {
  const DistGraphTopology* graph = nullptr;
  ASHLAR_TRY(dist_graph_of(comm, &graph));
  give(graph->sources(), maxindegree, sources);
  give(graph->destinations(), maxoutdegree, destinations);
  if (!graph->weighted) return {};
  // A caller that does not care passes MPI_UNWEIGHTED; one that has none of a kind may pass anything.
  if (sourceweights != MPI_UNWEIGHTED && sourceweights != MPI_WEIGHTS_EMPTY && sourceweights)
    give(graph->source_weights, maxindegree, sourceweights);
  if (destweights != MPI_UNWEIGHTED && destweights != MPI_WEIGHTS_EMPTY && destweights)
    give(graph->destination_weights, maxoutdegree, destweights);
  return {};
}

}  // namespace ashlar::topo
