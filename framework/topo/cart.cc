// Cartesian grids: made, cut into sub-grids.
#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "framework/base/failure.h"
#include "framework/object/comm.h"
#include "framework/object/topology.h"
#include "framework/progress/user_call.h"
#include "framework/topo/api.h"
#include "framework/topo/make.h"
#include "framework/topo/place.h"
#include "framework/topo/query.h"

namespace ashlar::topo {
namespace {

/// The number of places in a grid that fits into `comm`.
Status check_grid(const Comm& comm, int ndims, const int dims[], int* places) {
  ASHLAR_TRY(intra_only(comm));
  long long product = 1;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] <= 0)
      return fail(MPI_ERR_DIMS, "argument.element",
                  {{"argument", "dims"}, {"index", d}, {"value", dims[d]}, {"wanted", "1 or more"}});
    if (product <= comm.size) product *= dims[d];
  }
  if (product > comm.size) {
    constexpr int kMostShown = 8;
    std::string form;
    for (int d = 0; d < ndims && d < kMostShown; ++d) form += (d ? " x " : "") + std::to_string(dims[d]);
    if (ndims > kMostShown) form += " ...";
    return fail(MPI_ERR_DIMS, "topology.grid_too_large",
                {{"argument", "dims"}, {"value", form}, {"communicator", comm.name}, {"ranks", comm.size}});
  }
  *places = static_cast<int>(product);
  return {};
}

std::vector<int> flags(const int values[], int n) {
  std::vector<int> result;
  for (int i = 0; i < n; ++i) result.push_back(values[i] != 0);
  return result;
}

/// Every place has a neighbour on either side in each dimension, where the grid goes on.
Pattern pattern_of(int ndims, const int dims[], const int periods[], int places) {
  Pattern pattern;
  const std::vector<int> all(dims, dims + ndims), wraps = flags(periods, ndims);
  for (Rank r = 0; r < places; ++r) {
    const CartTopology grid(all, wraps, r);
    for (const Rank neighbour : grid.destinations())
      if (neighbour >= 0) pattern.add(neighbour);
    pattern.end_node();
  }
  return pattern;
}

}  // namespace

Status cart_create(Comm& comm, int ndims, const int dims[], const int periods[], int reorder, Comm** result) {
  const progress::UserCall call("MPI_Cart_create", &comm);
  *result = nullptr;
  int places = 0;
  ASHLAR_TRY(check_grid(comm, ndims, dims, &places));
  std::vector<Rank> order = as_they_are(places);
  if (reorder) ASHLAR_TRY(place(comm, pattern_of(ndims, dims, periods, places), "Cartesian grid", &order));
  Comm* made = nullptr;
  ASHLAR_TRY(make_ordered(comm, order, &made));
  if (!made) return {};
  made->topology =
      std::make_shared<CartTopology>(std::vector<int>(dims, dims + ndims), flags(periods, ndims), made->rank);
  *result = made;
  return {};
}

Status cart_map(Comm& comm, int ndims, const int dims[], const int periods[], int* newrank) {
  int places = 0;
  ASHLAR_TRY(check_grid(comm, ndims, dims, &places));
  *newrank = map(comm, pattern_of(ndims, dims, periods, places));
  return {};
}

Status cart_sub(Comm& comm, const int remain_dims[], Comm** result) {
  const progress::UserCall call("MPI_Cart_sub", &comm);
  *result = nullptr;
  const CartTopology* cart = nullptr;
  ASHLAR_TRY(cart_of(comm, &cart));
  if (!remain_dims && cart->ndims() > 0) return fail(MPI_ERR_ARG, "argument.null", {{"argument", "remain_dims"}});
  std::vector<int> dims, periods;
  for (int d = 0; d < cart->ndims(); ++d) {
    if (!remain_dims[d]) continue;
    dims.push_back(cart->dims[static_cast<std::size_t>(d)]);
    periods.push_back(cart->periods[static_cast<std::size_t>(d)]);
  }
  // Ranks count row by row, so the members of a sub-grid come up in the order of their ranks in it.
  std::vector<Rank> order;
  for (Rank r = 0; r < comm.size; ++r) {
    const std::vector<int> at = cart->coordinates(r);
    bool same = true;
    for (std::size_t d = 0; d < at.size(); ++d) same = same && (remain_dims[d] || at[d] == cart->own[d]);
    if (same) order.push_back(r);
  }
  Comm* made = nullptr;
  ASHLAR_TRY(make_ordered(comm, order, &made));
  made->topology = std::make_shared<CartTopology>(std::move(dims), std::move(periods), made->rank);
  *result = made;
  return {};
}

}  // namespace ashlar::topo
