#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "framework/plugin/topology.h"

namespace ashlar::treematch {

/// A pattern of communication, and processes with their places in the tree of hardware. Two processes are as far from
/// each other as the number of kinds of place that they do not share; an unknown kind counts as shared.
class Matcher {
 public:
  explicit Matcher(const ashlar_topology_problem& problem);

  using Order = std::vector<std::int32_t>;  // order[node] = process

  int size() const { return n_; }
  /// Sum of weight * distance over all edges.
  double cost(const Order& order) const;

  Order as_they_stand() const;
  /// The tree from the top: at every branching the nodes are divided among the branches, as many as each has processes,
  /// so that little weight crosses between them (partition.cc).
  Order divided() const;
  /// The tree from one end: the next process takes the node with the heaviest edges to those already placed.
  Order filled() const;
  /// Exchanges pairs while that reduces the cost. Tries every pair: for few processes only.
  void exchange_pairs(Order& order) const;
  static constexpr int kMostForExchange = 1024, kMostForFilling = 8192;

 private:
  using Edges = std::vector<std::pair<std::int32_t, std::int32_t>>;  // other node, weight; known at both ends
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  std::int64_t place(std::int32_t process, int kind) const {
    return problem_.places[at(process) * at(kinds_) + at(kind)];
  }
  int distance(std::int32_t a, std::int32_t b) const;
  double cost_of(const Order& order, std::int32_t node) const;
  Order by_place() const;
  /// For every node while the tree is divided: which of the sets being divided it is in, where in it, and the weight of
  /// its edges to the branch that grows.
  struct Scratch {
    std::vector<std::int32_t> set_of, place_of;
    std::vector<double> inside;
    std::int32_t sets = 0;
  };
  void divide(const Order& processes, std::size_t first, std::size_t last, int kind, Order& nodes,
              Scratch& scratch) const;
  void grow(std::size_t first, std::size_t count, std::size_t last, Order& nodes, Scratch& scratch) const;

  const ashlar_topology_problem& problem_;
  const int n_, kinds_;
  std::vector<Edges> edges_;
};

/// The best order that the methods above find, each for problems of its size. It is never worse than the order as
/// given.
std::vector<std::int32_t> match(const ashlar_topology_problem& problem);

}  // namespace ashlar::treematch
