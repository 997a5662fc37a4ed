#include "framework/object/topology.h"

namespace ashlar {
namespace {

std::vector<int> coordinates_of(const std::vector<int>& dims, Rank rank) {
  std::vector<int> at(dims.size());
  for (std::size_t d = dims.size(); d-- > 0;) {
    at[d] = rank % dims[d];
    rank /= dims[d];
  }
  return at;
}

}  // namespace

CartTopology::CartTopology(std::vector<int> grid_dims, std::vector<int> grid_periods, Rank rank)
    : Topology(MPI_CART),
      dims(std::move(grid_dims)),
      periods(std::move(grid_periods)),
      own(coordinates_of(dims, rank)) {
  sources_.reserve(2 * dims.size());
  for (int d = 0; d < ndims(); ++d)
    for (const int step : {-1, 1}) sources_.push_back(beside(own, d, step));
  destinations_ = sources_;
}

std::vector<int> CartTopology::coordinates(Rank rank) const { return coordinates_of(dims, rank); }

Rank CartTopology::rank_at(const int* coordinates, int* bad) const {
  Rank rank = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    int at = coordinates[d];
    if (at < 0 || at >= dims[d]) {
      if (!periods[d]) {
        if (bad) *bad = static_cast<int>(d);
        return -1;
      }
      at %= dims[d];
      if (at < 0) at += dims[d];
    }
    rank = rank * dims[d] + at;
  }
  return rank;
}

Rank CartTopology::beside(const std::vector<int>& coordinates, int dimension, long long displacement) const {
  const auto d = static_cast<std::size_t>(dimension);
  std::vector<int> at = coordinates;
  const long long moved = at[d] + displacement;
  if (periods[d])
    at[d] = static_cast<int>((moved % dims[d] + dims[d]) % dims[d]);
  else if (moved < 0 || moved >= dims[d])
    return MPI_PROC_NULL;
  else
    at[d] = static_cast<int>(moved);
  return rank_at(at.data());
}

GraphTopology::GraphTopology(std::vector<int> node_ends, std::vector<Rank> all_edges, Rank rank)
    : Topology(MPI_GRAPH), index(std::move(node_ends)), edges(std::move(all_edges)) {
  const std::span<const Rank> mine = neighbours(rank);
  sources_.assign(mine.begin(), mine.end());
  destinations_ = sources_;
}

std::span<const Rank> GraphTopology::neighbours(Rank rank) const {
  const auto r = static_cast<std::size_t>(rank);
  const auto begin = static_cast<std::size_t>(r == 0 ? 0 : index[r - 1]), end = static_cast<std::size_t>(index[r]);
  return {edges.data() + begin, end - begin};
}

}  // namespace ashlar
