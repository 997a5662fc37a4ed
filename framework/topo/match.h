#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "framework/base/types.h"

namespace ashlar::topo {

/// Who talks to whom: node i's neighbours are to[ends[i - 1]] ... to[ends[i] - 1], each with its weight.
struct Pattern {
  std::vector<int> ends;
  std::vector<Rank> to;
  std::vector<int> weights;  // empty: all 1

  int nodes() const { return static_cast<int>(ends.size()); }
  void add(Rank neighbour, int weight = 1) {
    to.push_back(neighbour);
    weights.push_back(weight);
  }
  void end_node() { ends.push_back(static_cast<int>(to.size())); }
};

/// Where a process runs, from the widest kind of place to the narrowest; -1: not told. Two processes are as far from
/// each other as the number of kinds that they do not share; a kind that is not told is shared.
inline constexpr std::size_t kPlaceKinds = 8;
using Place = std::array<std::int64_t, kPlaceKinds>;

struct Matching {
  std::vector<Rank> order;       // order[node of the pattern] = process
  double before = 0, after = 0;  // sum of weight * distance over all edges, as the processes stand and as ordered
};

/// Puts the nodes of `pattern` on as many processes so that neighbours are near each other: the hierarchy of places is
/// filled from one end, each time with the node that has most to do with those already there; then pairs are exchanged
/// while that helps. The processes as they stand, when that is no better. The same result everywhere for the same
/// input.
Matching match(const Pattern& pattern, const std::vector<Place>& places);

}  // namespace ashlar::topo
