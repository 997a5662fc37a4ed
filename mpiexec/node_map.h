#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "framework/plugin/launch_board.h"

namespace ashlar::mpiexec {

/// Which ranks of a job are on which node. Without a table all are on the node of the one who asks.
struct NodeMap {
  std::vector<std::string> hosts;           // the name of each node's host, as the user wrote it
  std::vector<std::uint32_t> node_of_rank;  // empty: all ranks are here
  std::uint32_t node = 0;                   // the own one; launch::kNoNode: no rank is here

  /// Whether any rank is elsewhere.
  bool several() const { return !node_of_rank.empty(); }
  bool here(unsigned rank) const { return !several() || node_of_rank[rank] == node; }
  unsigned node_of(unsigned rank) const { return several() ? node_of_rank[rank] : node; }
  std::vector<unsigned> list_of(std::uint32_t which) const {
    std::vector<unsigned> ranks;
    for (unsigned r = 0; r < node_of_rank.size(); ++r)
      if (node_of_rank[r] == which) ranks.push_back(r);
    return ranks;
  }
  unsigned ranks_of(std::uint32_t which) const {
    return static_cast<unsigned>(std::count(node_of_rank.begin(), node_of_rank.end(), which));
  }
};

}  // namespace ashlar::mpiexec
