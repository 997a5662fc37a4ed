#include "framework/object/group.h"

#include <algorithm>
#include <utility>

#include "framework/object/group_builder.h"
#include "framework/object/pool.h"
#include "framework/object/pvars.h"

namespace ashlar {

PeerId Group::self_peer = 0;

namespace {

constinit Pool<Group> pool{PoolName::kGroups};

/// A run takes as much as this many entries of a table. Fewer members than that per run are not worth one.
constexpr std::size_t kRunWorth = sizeof(Run) / sizeof(PeerId);
constexpr Run kNoRun{0, 0, 0, 1};
/// A builder goes on with runs up to here whatever their lengths.
constexpr std::size_t kFewRuns = 64;

/// Whether so many runs are the smaller form of so many members.
bool worth_it(std::size_t runs, std::size_t members) { return runs <= 1 || runs * kRunWorth <= members; }

/// Walks over the runs of `members`, each as long as its stride lasts, while `take(Run)` says so.
template <class Take>
void each_run(const std::vector<PeerId>& members, Take take) {
  const std::size_t n = members.size();
  for (std::size_t at = 0; at < n;) {
    const std::int64_t first = members[at];
    const std::int64_t stride = at + 1 < n ? std::int64_t{members[at + 1]} - first : 1;
    std::size_t end = at + 1;
    for (std::int64_t next = first + stride; end < n && members[end] == next; next += stride) ++end;
    if (!take(Run{static_cast<Rank>(at), static_cast<int>(end - at), first, end - at == 1 ? 1 : stride})) return;
    at = end;
  }
}

/// The runs of `members`; empty when a table is smaller.
std::vector<Run> runs_of(const std::vector<PeerId>& members) {
  std::vector<Run> runs;
  std::size_t count = 0;
  const std::size_t most = std::max<std::size_t>(members.size() / kRunWorth, 1);
  each_run(members, [&](const Run&) { return ++count <= most; });
  if (count > most) return runs;
  runs.reserve(count);
  each_run(members, [&](const Run& run) {
    runs.push_back(run);
    return true;
  });
  return runs;
}

}  // namespace

constinit std::atomic<bool> origins_checked{false};

const Counter& groups_alive() { return pool.out_level(); }

void destroy(Origin* origin) {
  if (origin->at_end) origin->at_end(*origin);
  delete origin;
}

Group* Group::strided(PeerId first, std::int64_t stride, int size) {
  return pool.take(size > 0 ? Run{0, size, first, size == 1 || stride == 0 ? 1 : stride} : kNoRun);
}

Group* Group::of(const std::vector<PeerId>& members) {
  // Nearly all groups that communicators have: nothing to allocate.
  Run one = kNoRun;
  each_run(members, [&](const Run& run) {
    one = run;
    return false;
  });
  if (static_cast<std::size_t>(one.count) == members.size()) return pool.take(one);
  std::vector<Run> runs = runs_of(members);
  const auto size = static_cast<int>(members.size());
  if (size > 0 && runs.empty()) return pool.take(std::move(runs), members, size);
  return pool.take(std::move(runs), std::vector<PeerId>(), size);
}

Group::Group(std::vector<Run> runs, std::vector<PeerId> table, int size)
    : Object(Kind::kGroup),
      size_(size),
      one_(runs.size() == 1 ? runs[0] : kNoRun),
      more_(runs.size() > 1 ? std::move(runs) : std::vector<Run>()),
      table_(std::move(table)) {}

Group::Group(const Run& run) : Object(Kind::kGroup), size_(run.count), one_(run) {}

PeerId Group::member(Rank rank) const {
  if (more_.empty()) return table_[static_cast<std::size_t>(rank)];
  const auto after =
      std::upper_bound(more_.begin(), more_.end(), rank, [](Rank r, const Run& run) { return r < run.rank; });
  const Run& run = *(after - 1);
  return static_cast<PeerId>(run.first + (rank - run.rank) * run.stride);
}

Rank Group::rank_of(PeerId peer) const {
  for (const Run& run : runs())
    if (const int place = run.place_of(peer); place >= 0) return run.rank + place;
  const auto at = std::find(table_.begin(), table_.end(), peer);
  return at == table_.end() ? -1 : static_cast<Rank>(at - table_.begin());
}

bool Group::same_members_in_order(const Group& other) const {
  return size_ == other.size_ && std::ranges::equal(runs(), other.runs()) && table_ == other.table_;
}

void destroy(Group* group) {
  if (group->predefined == 0) pool.put(group);
}

void GroupBuilder::append(std::int64_t first, std::int64_t stride, int count) {
  if (count <= 0) return;
  if (as_table_) {
    for (int i = 0; i < count; ++i) table_.push_back(static_cast<PeerId>(first + i * stride));
    size_ += count;
    return;
  }
  if (count == 1 && !runs_.empty() && runs_.back().count > 1 && runs_.back().last() + runs_.back().stride == first) {
    ++runs_.back().count;
    ++size_;
    return;
  }
  append_run(first, stride, count);
  if (runs_.size() > kFewRuns && runs_.size() * kRunWorth > static_cast<std::size_t>(size_)) write_out();
}

void GroupBuilder::append_run(std::int64_t first, std::int64_t stride, int count) {
  // What comes goes on with the last run, whole or with its first member, or begins another. At most three times round.
  while (count > 0) {
    int taken = 1;
    Run* const last = runs_.empty() ? nullptr : &runs_.back();
    if (last && last->count == 1) {
      last->stride = first - last->first;
      taken = last->stride == stride ? count : 1;
      last->count += taken;
    } else if (last && last->last() + last->stride == first) {
      taken = last->stride == stride ? count : 1;
      last->count += taken;
    } else {
      taken = count;
      runs_.push_back({size_, count, first, count == 1 ? 1 : stride});
    }
    size_ += taken;
    first += taken * stride;
    count -= taken;
  }
}

void GroupBuilder::append_ranks(const Group& group, Rank first, int stride, int count) {
  if (count <= 0) return;
  const std::span<const Run> runs = group.runs();
  if (runs.empty()) {
    for (std::int64_t i = 0; i < count; ++i) append(group[static_cast<Rank>(first + i * stride)]);
    return;
  }
  // The piece of each run that the ranks meet, in their direction.
  std::int64_t rank = first;
  int left = count;
  while (left > 0) {
    const auto after = std::upper_bound(runs.begin(), runs.end(), static_cast<Rank>(rank),
                                        [](Rank r, const Run& run) { return r < run.rank; });
    const Run& run = *(after - 1);
    const std::int64_t place = rank - run.rank;
    const std::int64_t room = stride > 0 ? (run.count - 1 - place) / stride : place / -std::int64_t{stride};
    const int taken = static_cast<int>(std::min<std::int64_t>(left, room + 1));
    append(run.first + place * run.stride, run.stride * stride, taken);
    rank += std::int64_t{taken} * stride;
    left -= taken;
  }
}

void GroupBuilder::write_out() {
  table_.reserve(static_cast<std::size_t>(size_) + 64);
  for (const Run& run : runs_)
    for (int i = 0; i < run.count; ++i) table_.push_back(static_cast<PeerId>(run.first + i * run.stride));
  runs_.clear();
  as_table_ = true;
}

Group* GroupBuilder::finish() {
  // The early members may have been few to a run, and the later ones many: the form must not depend on that.
  if (as_table_) {
    runs_ = runs_of(table_);
    if (!runs_.empty()) table_.clear();
  } else if (!worth_it(runs_.size(), static_cast<std::size_t>(size_))) {
    write_out();
  }
  table_.shrink_to_fit();
  runs_.shrink_to_fit();
  return pool.take(std::move(runs_), std::move(table_), size_);
}

}  // namespace ashlar
