#include "framework/object/group_api.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "framework/object/group.h"
#include "framework/object/handle.h"

namespace ashlar::group {
namespace {

/// Process -> rank, for operations that ask many times; sparse groups answer without a table.
class RankIndex {
 public:
  explicit RankIndex(const Group& g) : group_(g) {
    if (g.size() < 16 || g.sparse()) return;
    index_.reserve(static_cast<std::size_t>(g.size()));
    for (Rank r = 0; r < g.size(); ++r) index_.emplace(g[r], r);
  }
  Rank of(PeerId peer) const {
    if (index_.empty()) return group_.rank_of(peer);
    const auto found = index_.find(peer);
    return found == index_.end() ? -1 : found->second;
  }

 private:
  const Group& group_;
  std::unordered_map<PeerId, Rank> index_;
};

Status give(Group* made, Group** result) {
  if (!made) return Status::fail(MPI_ERR_NO_MEM, "no memory for another group");
  *result = made;
  return {};
}

Status make(std::vector<PeerId> members, Group** result) {
  if (members.empty()) {
    *result = Ref<Group>::share(empty()).detach();
    return {};
  }
  return give(Group::of(std::move(members)), result);
}

Status check_rank(const Group& g, int rank, int position, std::vector<bool>& seen) {
  if (rank < 0 || rank >= g.size())
    return Status::fail(MPI_ERR_RANK, "argument ranks[%d] is %d, but the group has ranks 0..%d", position, rank,
                        g.size() - 1);
  if (seen[static_cast<std::size_t>(rank)])
    return Status::fail(MPI_ERR_RANK, "argument ranks[%d] is %d, which stands in the list already", position, rank);
  seen[static_cast<std::size_t>(rank)] = true;
  return {};
}

/// One range without mistakes: no need to write its ranks out.
bool range_fits(const Group& g, const int range[3]) {
  const auto inside = [&](int rank) { return rank >= 0 && rank < g.size(); };
  return inside(range[0]) && inside(range[1]) && (range[2] > 0 ? range[0] <= range[1] : range[2] < 0 && range[0] >= range[1]);
}

/// The ranks that `ranges` of (first, last, stride) list, in order.
Status expand(const Group& g, int n, int (*ranges)[3], std::vector<int>& ranks) {
  std::vector<bool> seen(static_cast<std::size_t>(g.size()), false);
  for (int i = 0; i < n; ++i) {
    const int first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
    if (stride == 0) return Status::fail(MPI_ERR_ARG, "argument ranges[%d] has stride 0", i);
    // A range whose last end lies on the wrong side of the first lists nothing; the standard asks for an error.
    if ((stride > 0 && first > last) || (stride < 0 && first < last))
      return Status::fail(MPI_ERR_ARG, "argument ranges[%d] is (%d, %d, %d): the stride leads away from the last rank", i,
                          first, last, stride);
    for (std::int64_t r = first; stride > 0 ? r <= last : r >= last; r += stride) {
      ASHLAR_TRY(check_rank(g, static_cast<int>(r), i, seen));
      ranks.push_back(static_cast<int>(r));
    }
  }
  return {};
}

Status without(const Group& g, const std::vector<bool>& excluded, Group** result) {
  std::vector<PeerId> members;
  for (Rank r = 0; r < g.size(); ++r)
    if (!excluded[static_cast<std::size_t>(r)]) members.push_back(g[r]);
  return make(std::move(members), result);
}

}  // namespace

Status size(Group& g, int* size) {
  *size = g.size();
  return {};
}

Status rank(Group& g, int* rank) {
  const Rank own = g.own_rank();
  *rank = own < 0 ? MPI_UNDEFINED : own;
  return {};
}

Status translate_ranks(Group& from, int n, const int* ranks, Group& to, int* out) {
  const RankIndex index(to);
  for (int i = 0; i < n; ++i) {
    if (ranks[i] == MPI_PROC_NULL) {
      out[i] = MPI_PROC_NULL;
      continue;
    }
    if (ranks[i] < 0 || ranks[i] >= from.size())
      return Status::fail(MPI_ERR_RANK, "argument ranks1[%d] is %d, but group1 has ranks 0..%d", i, ranks[i],
                          from.size() - 1);
    const Rank found = index.of(from[ranks[i]]);
    out[i] = found < 0 ? MPI_UNDEFINED : found;
  }
  return {};
}

Status compare(Group& a, Group& b, int* result) {
  *result = MPI_UNEQUAL;
  if (a.size() != b.size()) return {};
  bool same_order = true;
  if (&a == &b || a.size() == 0 || (a.sparse() && b.sparse() && a[0] == b[0] && a[a.size() - 1] == b[b.size() - 1])) {
    *result = MPI_IDENT;
    return {};
  }
  for (Rank r = 0; r < a.size() && same_order; ++r) same_order = a[r] == b[r];
  if (same_order) {
    *result = MPI_IDENT;
    return {};
  }
  const RankIndex index(b);
  for (Rank r = 0; r < a.size(); ++r)
    if (index.of(a[r]) < 0) return {};
  *result = MPI_SIMILAR;
  return {};
}

Status union_(Group& a, Group& b, Group** result) {
  const RankIndex in_a(a);
  std::vector<PeerId> members;
  for (Rank r = 0; r < a.size(); ++r) members.push_back(a[r]);
  for (Rank r = 0; r < b.size(); ++r)
    if (in_a.of(b[r]) < 0) members.push_back(b[r]);
  return make(std::move(members), result);
}

Status intersection(Group& a, Group& b, Group** result) {
  const RankIndex in_b(b);
  std::vector<PeerId> members;
  for (Rank r = 0; r < a.size(); ++r)
    if (in_b.of(a[r]) >= 0) members.push_back(a[r]);
  return make(std::move(members), result);
}

Status difference(Group& a, Group& b, Group** result) {
  const RankIndex in_b(b);
  std::vector<PeerId> members;
  for (Rank r = 0; r < a.size(); ++r)
    if (in_b.of(a[r]) < 0) members.push_back(a[r]);
  return make(std::move(members), result);
}

Status incl(Group& g, int n, const int* ranks, Group** result) {
  std::vector<bool> seen(static_cast<std::size_t>(g.size()), false);
  std::vector<PeerId> members;
  for (int i = 0; i < n; ++i) {
    ASHLAR_TRY(check_rank(g, ranks[i], i, seen));
    members.push_back(g[ranks[i]]);
  }
  return make(std::move(members), result);
}

Status excl(Group& g, int n, const int* ranks, Group** result) {
  std::vector<bool> excluded(static_cast<std::size_t>(g.size()), false);
  for (int i = 0; i < n; ++i) ASHLAR_TRY(check_rank(g, ranks[i], i, excluded));
  return without(g, excluded, result);
}

Status range_incl(Group& g, int n, int (*ranges)[3], Group** result) {
  if (n == 1 && g.sparse() && range_fits(g, ranges[0])) {
    const auto [first, last, stride] = ranges[0];
    const int count = (last - first) / stride + 1;
    const std::int64_t step = count > 1 ? std::int64_t{g[first + stride]} - g[first] : 1;
    return give(Group::strided(g[first], step, count), result);
  }
  std::vector<int> ranks;
  ASHLAR_TRY(expand(g, n, ranges, ranks));
  return incl(g, static_cast<int>(ranks.size()), ranks.data(), result);
}

Status range_excl(Group& g, int n, int (*ranges)[3], Group** result) {
  std::vector<int> ranks;
  ASHLAR_TRY(expand(g, n, ranges, ranks));
  return excl(g, static_cast<int>(ranks.size()), ranks.data(), result);
}

Status free(Group** g) {
  release(*g);  // MPI_GROUP_EMPTY keeps its storage whatever the count (destroy() of a predefined group does nothing)
  *g = nullptr;
  return {};
}

Group& empty() { return *resolve(MPI_GROUP_EMPTY); }

}  // namespace ashlar::group
