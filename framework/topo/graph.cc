// Graphs that every process gives whole.
#include <mpi.h>

#include <memory>
#include <vector>

#include "framework/base/failure.h"
#include "framework/object/comm.h"
#include "framework/object/topology.h"
#include "framework/progress/user_call.h"
#include "framework/topo/api.h"
#include "framework/topo/make.h"
#include "framework/topo/place.h"

namespace ashlar::topo {
namespace {

Status check_graph(const Comm& comm, int nnodes, const int ends[], const int edges[]) {
  ASHLAR_TRY(intra_only(comm));
  if (nnodes > comm.size)
    return fail(MPI_ERR_ARG, "topology.too_many_nodes",
                {{"argument", "nnodes"}, {"value", nnodes}, {"communicator", comm.name}, {"ranks", comm.size}});
  for (int i = 0; i < nnodes; ++i)
    if (ends[i] < (i == 0 ? 0 : ends[i - 1]))
      return fail(MPI_ERR_ARG, "argument.element",
                  {{"argument", "index"},
                   {"index", i},
                   {"value", ends[i]},
                   {"wanted", "no less than the element before it: these are ends of lists of neighbours"}});
  const int all = nnodes > 0 ? ends[nnodes - 1] : 0;
  if (all > 0 && !edges) return fail(MPI_ERR_ARG, "argument.null", {{"argument", "edges"}});
  for (int i = 0; i < all; ++i)
    if (edges[i] < 0 || edges[i] >= nnodes)
      return fail(MPI_ERR_RANK, "argument.element_range",
                  {{"argument", "edges"},
                   {"index", i},
                   {"value", edges[i]},
                   {"first", 0},
                   {"last", nnodes - 1},
                   {"note", "These are the nodes of the graph"}});
  return {};
}

Pattern pattern_of(int nnodes, const int ends[], const int edges[]) {
  if (nnodes == 0) return {};
  return {std::vector<int>(ends, ends + nnodes), std::vector<Rank>(edges, edges + ends[nnodes - 1]), {}};
}

}  // namespace

Status graph_create(Comm& comm, int nnodes, const int indx[], const int edges[], int reorder, Comm** result) {
  const progress::UserCall call("MPI_Graph_create", &comm);
  *result = nullptr;
  ASHLAR_TRY(check_graph(comm, nnodes, indx, edges));
  std::vector<Rank> order = as_they_are(nnodes);
  if (reorder && nnodes > 0) ASHLAR_TRY(place(comm, pattern_of(nnodes, indx, edges), "graph", &order));
  Comm* made = nullptr;
  ASHLAR_TRY(make_ordered(comm, order, &made));
  if (!made) return {};
  made->topology = std::make_shared<GraphTopology>(std::vector<int>(indx, indx + nnodes),
                                                   std::vector<Rank>(edges, edges + indx[nnodes - 1]), made->rank);
  *result = made;
  return {};
}

Status graph_map(Comm& comm, int nnodes, const int indx[], const int edges[], int* newrank) {
  ASHLAR_TRY(check_graph(comm, nnodes, indx, edges));
  *newrank = map(comm, pattern_of(nnodes, indx, edges));
  return {};
}

}  // namespace ashlar::topo
