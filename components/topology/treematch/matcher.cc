#include "components/topology/treematch/matcher.h"

#include <algorithm>
#include <numeric>

namespace ashlar::treematch {

Matcher::Matcher(const ashlar_topology_problem& problem)
    : problem_(problem), n_(problem.nodes), kinds_(problem.kinds), edges_(at(n_)) {
  std::int32_t begin = 0;
  for (std::int32_t node = 0; node < n_; ++node) {
    for (std::int32_t e = begin; e < problem.ends[node]; ++e) {
      const std::int32_t other = problem.to[e];
      if (other < 0 || other >= n_ || other == node) continue;
      const std::int32_t weight = problem.weights ? problem.weights[e] : 1;
      edges_[at(node)].emplace_back(other, weight);
      edges_[at(other)].emplace_back(node, weight);
    }
    begin = problem.ends[node];
  }
}

int Matcher::distance(std::int32_t a, std::int32_t b) const {
  int kinds = 0;
  for (int kind = 0; kind < kinds_; ++kind) {
    const std::int64_t x = place(a, kind), y = place(b, kind);
    kinds += x != y && x >= 0 && y >= 0;
  }
  return kinds;
}

double Matcher::cost_of(const Order& order, std::int32_t node) const {
  double sum = 0;
  for (const auto& [other, weight] : edges_[at(node)]) sum += weight * distance(order[at(node)], order[at(other)]);
  return sum;
}

double Matcher::cost(const Order& order) const {
  double sum = 0;
  for (std::int32_t node = 0; node < n_; ++node) sum += cost_of(order, node);
  return sum / 2;
}

Matcher::Order Matcher::as_they_stand() const {
  Order order(at(n_));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Matcher::Order Matcher::by_place() const {
  Order processes = as_they_stand();
  std::stable_sort(processes.begin(), processes.end(), [this](std::int32_t a, std::int32_t b) {
    for (int kind = 0; kind < kinds_; ++kind)
      if (place(a, kind) != place(b, kind)) return place(a, kind) < place(b, kind);
    return false;
  });
  return processes;
}

Matcher::Order Matcher::filled() const {
  const Order spots = by_place();
  Order order(at(n_), -1);
  std::vector<double> pull(at(n_), 0);  // weight to the nodes placed already, more for the nearer ones
  for (std::int32_t i = 0; i < n_; ++i) {
    std::int32_t best = -1;
    for (std::int32_t node = 0; node < n_; ++node)
      if (order[at(node)] < 0 && (best < 0 || pull[at(node)] > pull[at(best)])) best = node;
    order[at(best)] = spots[at(i)];
    // Where the next process is in another wide place, edges to earlier nodes count for less.
    if (i + 1 < n_ && place(spots[at(i)], 0) != place(spots[at(i + 1)], 0))
      for (double& p : pull) p *= 0.01;
    for (const auto& [other, weight] : edges_[at(best)]) pull[at(other)] += weight;
  }
  return order;
}

void Matcher::exchange_pairs(Order& order) const {
  constexpr int kPasses = 4;
  for (int pass = 0; pass < kPasses; ++pass) {
    bool better = false;
    for (std::int32_t a = 0; a < n_; ++a)
      for (std::int32_t b = a + 1; b < n_; ++b) {
        const double now = cost_of(order, a) + cost_of(order, b);
        std::swap(order[at(a)], order[at(b)]);
        if (cost_of(order, a) + cost_of(order, b) < now)
          better = true;
        else
          std::swap(order[at(a)], order[at(b)]);
      }
    if (!better) return;
  }
}

std::vector<std::int32_t> match(const ashlar_topology_problem& problem) {
  const Matcher matcher(problem);
  Matcher::Order best = matcher.as_they_stand();
  double least = matcher.cost(best);
  const auto consider = [&](Matcher::Order order) {
    if (matcher.size() <= Matcher::kMostForExchange) matcher.exchange_pairs(order);
    const double cost = matcher.cost(order);
    if (cost >= least) return;
    least = cost;
    best = std::move(order);
  };
  if (least == 0) return best;
  const Matcher::Order stand = best;
  consider(matcher.divided());
  if (matcher.size() <= Matcher::kMostForFilling) consider(matcher.filled());
  if (matcher.size() <= Matcher::kMostForExchange) consider(stand);
  return best;
}

}  // namespace ashlar::treematch
