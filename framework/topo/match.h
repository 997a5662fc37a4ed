#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "framework/base/types.h"
#include "framework/comm/hardware.h"

namespace ashlar::topo {

/// A pattern of communication: node i's neighbours are to[ends[i - 1]] ... to[ends[i] - 1], each with its weight.
struct Pattern {
  std::vector<std::int32_t> ends;
  std::vector<Rank> to;
  std::vector<std::int32_t> weights;  // empty: all 1

  int nodes() const { return static_cast<int>(ends.size()); }
  void add(Rank neighbour, int weight = 1) {
    to.push_back(neighbour);
    weights.push_back(weight);
  }
  void end_node() { ends.push_back(static_cast<std::int32_t>(to.size())); }
};

/// Where a process runs, by comm::kComparedTypes; -1: unknown. The distance of two processes is the number of kinds
/// that they do not share; an unknown kind counts as shared.
inline constexpr std::size_t kPlaceKinds = comm::kComparedTypes.size();
using Place = std::array<std::int64_t, kPlaceKinds>;

struct Matching {
  std::vector<Rank> order;       // order[node of the pattern] = process
  double before = 0, after = 0;  // sum of weight * distance over all edges, as the processes stand and as ordered
  const char* kept = nullptr;    // why the processes stay as they stand, if they do
};

/// Lets `matcher` put the nodes of `pattern` on as many processes. The processes stay as they stand when there is no
/// matcher, when it answers something that is no order, or one that is no better.
Matching match(const Pattern& pattern, const std::vector<Place>& places, ashlar_topology* matcher);

}  // namespace ashlar::topo
