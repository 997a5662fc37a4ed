#include "framework/topo/match.h"

#include <numeric>
#include <utility>

#include "framework/topo/engine.h"

namespace ashlar::topo {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

int distance(const Place& x, const Place& y) {
  int kinds = 0;
  for (std::size_t kind = 0; kind < kPlaceKinds; ++kind) kinds += x[kind] != y[kind] && x[kind] >= 0 && y[kind] >= 0;
  return kinds;
}

double cost(const Pattern& pattern, const std::vector<Place>& places, const std::vector<Rank>& order) {
  double sum = 0;
  int begin = 0;
  for (int node = 0; node < pattern.nodes(); ++node) {
    for (int e = begin; e < pattern.ends[at(node)]; ++e) {
      const Rank other = pattern.to[at(e)];
      if (other < 0 || other >= pattern.nodes()) continue;
      const int weight = pattern.weights.empty() ? 1 : pattern.weights[at(e)];
      sum += weight * distance(places[at(order[at(node)])], places[at(order[at(other)])]);
    }
    begin = pattern.ends[at(node)];
  }
  return sum;
}

bool permutation(const std::vector<Rank>& order) {
  std::vector<bool> seen(order.size(), false);
  for (const Rank r : order) {
    if (r < 0 || at(r) >= order.size() || seen[at(r)]) return false;
    seen[at(r)] = true;
  }
  return true;
}

}  // namespace

Matching match(const Pattern& pattern, const std::vector<Place>& places, ashlar_topology* matcher) {
  Matching result;
  result.order.resize(at(pattern.nodes()));
  std::iota(result.order.begin(), result.order.end(), 0);
  result.before = result.after = cost(pattern, places, result.order);
  const auto keep = [&result](const char* why) {
    result.kept = why;
    return result;
  };
  if (result.before == 0) return keep("as far as bindings tell, every neighbour is as near as any other rank");
  if (!matcher) return keep("no component matches");
  ashlar_topology_problem problem = {};
  problem.size = sizeof problem;
  problem.nodes = pattern.nodes();
  problem.ends = pattern.ends.data();
  problem.to = pattern.to.data();
  problem.weights = pattern.weights.empty() ? nullptr : pattern.weights.data();
  problem.kinds = static_cast<std::int32_t>(kPlaceKinds);
  problem.places = places.data()->data();
  static_assert(sizeof(Place) == kPlaceKinds * sizeof(std::int64_t));
  std::vector<Rank> order(result.order.size(), -1);
  {
    const std::lock_guard guard(Engine::current().matching);
    if (matcher->ops->match(matcher, &problem, order.data()) != ASHLAR_OK) return keep("the component failed");
  }
  if (!permutation(order)) return keep("the component's answer is no order of the processes");
  const double after = cost(pattern, places, order);
  if (after >= result.before) return keep("no order was found that is better than the present one");
  result.after = after;
  result.order = std::move(order);
  return result;
}

}  // namespace ashlar::topo
