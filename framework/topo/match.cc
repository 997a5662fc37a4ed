#include "framework/topo/match.h"

#include <algorithm>
#include <numeric>

namespace ashlar::topo {
namespace {

// Exchanging pairs looks at every pair; beyond this many processes, filling alone has to do.
constexpr int kMostForExchange = 512;
constexpr int kMostForFilling = 8192;
constexpr int kPasses = 4;

class Matcher {
 public:
  Matcher(const Pattern& pattern, const std::vector<Place>& places)
      : places_(places), n_(pattern.nodes()), edges_(static_cast<std::size_t>(n_)) {
    // Both ends know of an edge.
    int begin = 0;
    for (int node = 0; node < n_; ++node) {
      for (int e = begin; e < pattern.ends[at(node)]; ++e) {
        const Rank other = pattern.to[at(e)];
        if (other < 0 || other >= n_ || other == node) continue;
        const int weight = pattern.weights.empty() ? 1 : pattern.weights[at(e)];
        edges_[at(node)].push_back({other, weight});
        edges_[at(other)].push_back({node, weight});
      }
      begin = pattern.ends[at(node)];
    }
  }

  double cost(const std::vector<Rank>& order) const {
    double sum = 0;
    for (int node = 0; node < n_; ++node) sum += cost_of(order, node);
    return sum / 2;
  }

  /// Fills the places in their hierarchical order.
  std::vector<Rank> fill() const {
    std::vector<Rank> spots(at(n_));
    std::iota(spots.begin(), spots.end(), 0);
    std::stable_sort(spots.begin(), spots.end(), [&](Rank a, Rank b) { return places_[at(a)] < places_[at(b)]; });
    std::vector<Rank> order(at(n_), -1);
    std::vector<double> pull(at(n_), 0);  // of what is placed already, the nearer the more
    for (int i = 0; i < n_; ++i) {
      int best = -1;
      for (int node = 0; node < n_; ++node)
        if (order[at(node)] < 0 && (best < 0 || pull[at(node)] > pull[at(best)])) best = node;
      order[at(best)] = spots[at(i)];
      // On the way to a new wide place, what lies behind counts for less.
      if (i + 1 < n_ && places_[at(spots[at(i)])][0] != places_[at(spots[at(i + 1)])][0])
        for (double& p : pull) p *= 0.01;
      for (const auto& [other, weight] : edges_[at(best)]) pull[at(other)] += weight;
    }
    return order;
  }

  void exchange_pairs(std::vector<Rank>& order) const {
    if (n_ > kMostForExchange) return;
    for (int pass = 0; pass < kPasses; ++pass) {
      bool better = false;
      for (int a = 0; a < n_; ++a)
        for (int b = a + 1; b < n_; ++b) {
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

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  int distance(Rank a, Rank b) const {
    int kinds = 0;
    const Place &x = places_[at(a)], &y = places_[at(b)];
    for (std::size_t kind = 0; kind < kPlaceKinds; ++kind) kinds += x[kind] != y[kind] && x[kind] >= 0 && y[kind] >= 0;
    return kinds;
  }
  double cost_of(const std::vector<Rank>& order, int node) const {
    double sum = 0;
    for (const auto& [other, weight] : edges_[at(node)]) sum += weight * distance(order[at(node)], order[at(other)]);
    return sum;
  }

  const std::vector<Place>& places_;
  const int n_;
  std::vector<std::vector<std::pair<Rank, int>>> edges_;
};

}  // namespace

Matching match(const Pattern& pattern, const std::vector<Place>& places) {
  const Matcher matcher(pattern, places);
  Matching result;
  result.order.resize(static_cast<std::size_t>(pattern.nodes()));
  std::iota(result.order.begin(), result.order.end(), 0);
  result.before = result.after = matcher.cost(result.order);
  if (result.before == 0 || pattern.nodes() > kMostForFilling) return result;
  std::vector<Rank> filled = matcher.fill(), as_they_stand = result.order;
  for (std::vector<Rank>* order : {&as_they_stand, &filled}) {
    matcher.exchange_pairs(*order);
    const double cost = matcher.cost(*order);
    if (cost >= result.after) continue;
    result.after = cost;
    result.order = *order;
  }
  return result;
}

}  // namespace ashlar::topo
