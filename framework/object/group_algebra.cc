#include "framework/object/group_algebra.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <utility>

namespace ashlar::group {
namespace {

constexpr std::size_t kFew = 8;  // runs or members that are looked through faster than an index

std::int64_t lowest(const Run& run) { return std::min(run.first, run.last()); }
std::int64_t highest(const Run& run) { return std::max(run.first, run.last()); }

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }
std::int64_t modulo(std::int64_t a, std::int64_t m) { return a - m * floor_div(a, m); }

/// The inverse of `a` modulo `m`; they have no common factor.
std::int64_t inverse(std::int64_t a, std::int64_t m) {
  std::int64_t r0 = m, r1 = modulo(a, m), t0 = 0, t1 = 1;
  while (r1 > 0) {
    const std::int64_t q = r0 / r1;
    std::tie(r0, r1) = std::pair(r1, r0 - q * r1);
    std::tie(t0, t1) = std::pair(t1, t0 - q * t1);
  }
  return modulo(t0, m);
}

/// Where the members of `b` stand in `run`, in rising order, if that is known without writing them out.
bool places_in(const Run& run, const Group& b, std::vector<Places>* places) {
  places->clear();
  for (const Run& other : b.runs())
    if (const Places met = common(run, other); met.count > 0) places->push_back(met);
  for (const PeerId peer : b.table())
    if (const int place = run.place_of(peer); place >= 0) places->push_back({place, 1, 1});
  std::sort(places->begin(), places->end(), [](const Places& x, const Places& y) { return x.first < y.first; });
  for (std::size_t i = 1; i < places->size(); ++i)
    if ((*places)[i].first <= (*places)[i - 1].last()) return false;  // they interlock
  return true;
}

bool plain(const std::vector<Places>& places) {
  return std::ranges::all_of(places, [](const Places& p) { return p.step == 1 || p.count == 1; });
}

/// Looking at each run of one for each run of the other is worth it.
bool by_runs(const Group& a, const Group& b) {
  if (a.runs().empty()) return false;
  const std::size_t others = b.runs().empty() ? b.table().size() : b.runs().size();
  return a.runs().size() * others <=
         kFew * kFew + static_cast<std::size_t>(a.size()) + static_cast<std::size_t>(b.size());
}

void append_one_by_one(GroupBuilder& builder, const Run& run, const RankIndex& index, bool in) {
  for (int i = 0; i < run.count; ++i) {
    const std::int64_t peer = run.first + i * run.stride;
    if ((index.of(static_cast<PeerId>(peer)) >= 0) == in) builder.append(peer);
  }
}

}  // namespace

Places common(const Run& a, const Run& b) {
  // a.first + i * a.stride = b.first, modulo b's stride, for all i of one class modulo `step`.
  const std::int64_t stride = b.count > 1 ? std::abs(b.stride) : std::abs(a.stride);
  const std::int64_t divisor = std::gcd(std::abs(a.stride), stride), step = stride / divisor;
  if ((b.first - a.first) % divisor != 0) return {0, 1, 0};
  const std::int64_t any =
      modulo(modulo((b.first - a.first) / divisor, step) * inverse(a.stride / divisor, step), step);
  // Of those, the ones in a and between b's ends.
  std::int64_t from = ceil_div((a.stride > 0 ? lowest(b) : highest(b)) - a.first, a.stride);
  std::int64_t to = floor_div((a.stride > 0 ? highest(b) : lowest(b)) - a.first, a.stride);
  from = std::max<std::int64_t>(from, 0);
  to = std::min<std::int64_t>(to, a.count - 1);
  const std::int64_t first = from + modulo(any - from, step);
  if (first > to) return {0, 1, 0};
  return {first, step, static_cast<int>((to - first) / step + 1)};
}

RankIndex::RankIndex(const Group& g) : group_(g) {
  if (g.size() < 16 || (!g.runs().empty() && g.runs().size() <= kFew)) return;
  for (const Run& run : g.runs()) by_lowest_.push_back(&run);
  std::sort(by_lowest_.begin(), by_lowest_.end(), [](const Run* x, const Run* y) { return lowest(*x) < lowest(*y); });
  bool apart = !by_lowest_.empty();
  for (std::size_t i = 1; i < by_lowest_.size(); ++i)
    apart = apart && lowest(*by_lowest_[i]) > highest(*by_lowest_[i - 1]);
  if (apart) return;
  by_lowest_.clear();
  by_process_.reserve(static_cast<std::size_t>(g.size()));
  for (Rank r = 0; r < g.size(); ++r) by_process_.emplace(g[r], r);
}

Rank RankIndex::of(PeerId peer) const {
  if (!by_lowest_.empty()) {
    const auto after = std::upper_bound(by_lowest_.begin(), by_lowest_.end(), std::int64_t{peer},
                                        [](std::int64_t p, const Run* run) { return p < lowest(*run); });
    if (after == by_lowest_.begin()) return -1;
    const Run& run = **(after - 1);
    const int place = run.place_of(peer);
    return place < 0 ? -1 : run.rank + place;
  }
  if (by_process_.empty()) return group_.rank_of(peer);
  const auto found = by_process_.find(peer);
  return found == by_process_.end() ? -1 : found->second;
}

void append_members(GroupBuilder& builder, const Group& a, const Group& b, bool in) {
  if (!by_runs(a, b)) {
    const RankIndex index(b);
    for (Rank r = 0; r < a.size(); ++r)
      if (const PeerId peer = a[r]; (index.of(peer) >= 0) == in) builder.append(peer);
    return;
  }
  std::vector<Places> places;
  for (const Run& run : a.runs()) {
    if (!places_in(run, b, &places) || (!in && !plain(places))) {
      append_one_by_one(builder, run, RankIndex(b), in);
      continue;
    }
    const auto append = [&](std::int64_t first, std::int64_t step, std::int64_t count) {
      builder.append(run.first + first * run.stride, run.stride * step, static_cast<int>(count));
    };
    std::int64_t next = 0;  // place up to which all is done
    for (const Places& p : places) {
      if (in)
        append(p.first, p.step, p.count);
      else
        append(next, 1, p.first - next);
      next = p.last() + 1;
    }
    if (!in) append(next, 1, run.count - next);
  }
}

std::int64_t count_common(const Group& a, const Group& b) {
  std::int64_t sum = 0;
  if (by_runs(a, b)) {
    for (const Run& run : a.runs()) {
      for (const Run& other : b.runs()) sum += common(run, other).count;
      for (const PeerId peer : b.table()) sum += run.place_of(peer) >= 0;
    }
    return sum;
  }
  const RankIndex index(b);
  for (Rank r = 0; r < a.size(); ++r) sum += index.of(a[r]) >= 0;
  return sum;
}

Rank first_member(const Group& g, const Group& other, bool in) {
  if (by_runs(g, other) && count_common(g, other) == (in ? 0 : g.size())) return -1;
  const RankIndex index(other);
  for (Rank r = 0; r < g.size(); ++r)
    if ((index.of(g[r]) >= 0) == in) return r;
  return -1;
}

}  // namespace ashlar::group
