// The tree of hardware from the top: which nodes of the pattern go to which branch.
#include <algorithm>
#include <cstdint>
#include <queue>

#include "components/topology/treematch/matcher.h"

namespace ashlar::treematch {

/// Brings `count` of nodes[first, last) to the front of it: first one with little weight to the others,
/// then always the one that adds least to the weight that leaves the part.
void Matcher::grow(std::size_t first, std::size_t count, std::size_t last, Order& nodes, Scratch& scratch) const {
  const std::int32_t set = scratch.set_of[at(nodes[first])];
  std::vector<double> rest(last - first, 0);  // weight of a node's edges to the nodes that are to be divided
  for (std::size_t i = first; i < last; ++i) {
    scratch.inside[at(nodes[i])] = 0;
    scratch.place_of[at(nodes[i])] = static_cast<std::int32_t>(i - first);
    for (const auto& [other, weight] : edges_[at(nodes[i])])
      if (scratch.set_of[at(other)] == set) rest[i - first] += weight;
  }
  // Of equal ones the node is taken that has been next to the part for the longest: that makes round parts, not long
  // ones.
  struct Candidate {
    double gain;
    std::int32_t since, node;
    bool operator<(const Candidate& other) const {
      if (gain != other.gain) return gain < other.gain;
      return since != other.since ? since > other.since : node > other.node;
    }
  };
  std::priority_queue<Candidate> queue;
  const auto gain_of = [&](std::int32_t node) {
    return 2 * scratch.inside[at(node)] - rest[at(scratch.place_of[at(node)])];
  };
  constexpr std::int32_t kNever = INT32_MAX;
  std::vector<std::int32_t> since(last - first, kNever);
  std::int32_t touched = 0;
  for (std::size_t i = first; i < last; ++i) queue.push({gain_of(nodes[i]), kNever, nodes[i]});
  std::vector<bool> taken(last - first, false);
  Order chosen, others;
  while (chosen.size() < count) {
    const Candidate next = queue.top();
    queue.pop();
    const std::size_t own = at(scratch.place_of[at(next.node)]);
    if (taken[own] || next.gain != gain_of(next.node)) continue;  // an old entry; a newer one is there
    taken[own] = true;
    chosen.push_back(next.node);
    for (const auto& [other, weight] : edges_[at(next.node)]) {
      if (scratch.set_of[at(other)] != set || taken[at(scratch.place_of[at(other)])]) continue;
      scratch.inside[at(other)] += weight;
      std::int32_t& from = since[at(scratch.place_of[at(other)])];
      if (from == kNever) from = touched++;
      queue.push({gain_of(other), from, other});
    }
  }
  for (std::size_t i = first; i < last; ++i)
    if (!taken[i - first]) others.push_back(nodes[i]);
  std::copy(chosen.begin(), chosen.end(), nodes.begin() + static_cast<std::ptrdiff_t>(first));
  std::copy(others.begin(), others.end(), nodes.begin() + static_cast<std::ptrdiff_t>(first + count));
}

/// Gives nodes[first, last) to processes[first, last), which agree in all kinds of place before `kind`.
void Matcher::divide(const Order& processes, std::size_t first, std::size_t last, int kind, Order& nodes,
                     Scratch& scratch) const {
  if (kind == kinds_ || last - first < 2) return;
  const std::int32_t set = ++scratch.sets;
  for (std::size_t i = first; i < last; ++i) scratch.set_of[at(nodes[i])] = set;
  for (std::size_t from = first; from < last;) {
    std::size_t to = from + 1;
    while (to < last && place(processes[to], kind) == place(processes[from], kind)) ++to;
    if (to < last) grow(from, to - from, last, nodes, scratch);
    divide(processes, from, to, kind + 1, nodes, scratch);
    for (std::size_t i = from; i < to; ++i) scratch.set_of[at(nodes[i])] = 0;
    from = to;
  }
}

Matcher::Order Matcher::divided() const {
  const Order processes = by_place();
  Order nodes = as_they_stand(), order(at(n_));
  Scratch scratch{Order(at(n_), 0), Order(at(n_), 0), std::vector<double>(at(n_), 0), 0};
  divide(processes, 0, at(n_), 0, nodes, scratch);
  for (std::size_t i = 0; i < nodes.size(); ++i) order[at(nodes[i])] = processes[i];
  return order;
}

}  // namespace ashlar::treematch
