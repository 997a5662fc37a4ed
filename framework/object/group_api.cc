#include "framework/object/group_api.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "framework/base/failure.h"
#include "framework/object/group.h"
#include "framework/object/group_algebra.h"
#include "framework/object/group_builder.h"
#include "framework/object/handle.h"
#include "framework/object/limit.h"
#include "framework/object/pvars.h"

namespace ashlar::group {
namespace {

/// The result of an operation on `a` and perhaps `b`.
Status give(GroupBuilder& builder, const Group& a, const Group* b, Group** result) {
  if (builder.size() == 0) {
    *result = Ref<Group>::share(empty()).detach();
    return {};
  }
  Group* const made = builder.finish();
  if (!made) return object::none_left("another group", groups_alive());
  made->origin = a.origin || !b ? a.origin : b->origin;
  *result = made;
  return {};
}

/// A range of ranks from the lower end, and which argument gave it.
struct Listed {
  Run run;
  int position;
};

/// Whether an argument lists ranges (first, last, stride), not ranks.
bool lists_ranges(const char* argument) { return std::strcmp(argument, "ranges") == 0; }

Status twice(const char* argument, int position, std::int64_t rank) {
  const Fact name("argument", argument), at("index", position), value("value", rank);
  return lists_ranges(argument) ? fail(MPI_ERR_RANK, "group.range_twice", {name, at, value})
                                : fail(MPI_ERR_RANK, "group.rank_twice", {name, at, value});
}

/// "has ranks 0..3", or that there is none.
struct Ranks {
  explicit Ranks(const Group& g) {
    if (g.size() == 0)
      std::snprintf(text, sizeof text, "is empty");
    else
      std::snprintf(text, sizeof text, "has ranks 0..%d", g.size() - 1);
  }
  char text[32];
};

Status outside(const Group& g, const char* argument, int position, std::int64_t rank) {
  const Ranks all(g);
  const Fact name("argument", argument), at("index", position), value("value", rank), has("has", all.text);
  return lists_ranges(argument) ? fail(MPI_ERR_RANK, "group.range_outside", {name, at, value, has})
                                : fail(MPI_ERR_RANK, "group.rank_outside", {name, at, value, has});
}

/// Ranks one by one: each of the group, and none twice.
Status check_ranks(const Group& g, int n, const int* ranks) {
  for (int i = 0; i < n; ++i)
    if (ranks[i] < 0 || ranks[i] >= g.size()) return outside(g, "ranks", i, ranks[i]);
  if (n < 2) return {};
  std::vector<bool> seen(static_cast<std::size_t>(g.size()), false);
  for (int i = 0; i < n; ++i) {
    const auto rank = static_cast<std::size_t>(ranks[i]);
    if (seen[rank]) return twice("ranks", i, ranks[i]);
    seen[rank] = true;
  }
  return {};
}

/// Ranges of ranks: each of the group, and no rank twice. Any two are compared, so that none need be written out.
Status check_ranges(const Group& g, int n, int (*ranges)[3], std::vector<Listed>* listed) {
  constexpr int kMostPairwise = 256;
  listed->clear();
  for (int i = 0; i < n; ++i) {
    const int first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
    if (stride == 0) return fail(MPI_ERR_ARG, "group.stride_zero", {{"argument", "ranges"}, {"index", i}});
    // A range whose last end lies on the wrong side of the first lists nothing; the standard asks for an error.
    if ((stride > 0 && first > last) || (stride < 0 && first < last))
      return fail(MPI_ERR_ARG, "group.stride_away",
                  {{"argument", "ranges"}, {"index", i}, {"first", first}, {"last", last}, {"stride", stride}});
    const std::int64_t count = (std::int64_t{last} - first) / stride + 1;
    const std::int64_t end = first + (count - 1) * stride;
    if (first < 0 || first >= g.size()) return outside(g, "ranges", i, first);
    if (end < 0 || end >= g.size()) return outside(g, "ranges", i, end);
    const Run run{0, static_cast<int>(count), first, stride};
    for (std::size_t k = 0; n <= kMostPairwise && k < listed->size(); ++k)
      if (const Places met = common(run, (*listed)[k].run); met.count > 0)
        return twice("ranges", i, first + met.first * stride);
    listed->push_back({run, i});
  }
  if (n <= kMostPairwise) return {};
  std::vector<bool> seen(static_cast<std::size_t>(g.size()), false);
  for (const Listed& range : *listed)
    for (int i = 0; i < range.run.count; ++i) {
      const std::int64_t rank = range.run.first + i * range.run.stride;
      if (seen[static_cast<std::size_t>(rank)]) return twice("ranges", range.position, rank);
      seen[static_cast<std::size_t>(rank)] = true;
    }
  return {};
}

/// `g` without the ranks of `listed`.
Status without(const Group& g, GroupBuilder& listed, Group** result) {
  // As groups of ranks: 0 ... size - 1 without the listed ones.
  const Ref<Group> out = Ref<Group>::adopt(listed.finish());
  GroupBuilder all, left, builder;
  all.append(0, 1, g.size());
  const Ref<Group> ranks = Ref<Group>::adopt(all.finish());
  if (!out || !ranks) return object::none_left("another group", groups_alive());
  append_members(left, *ranks, *out, false);
  const Ref<Group> kept = Ref<Group>::adopt(left.finish());
  if (!kept) return object::none_left("another group", groups_alive());
  for (const Run& run : kept->runs())
    builder.append_ranks(g, static_cast<Rank>(run.first), static_cast<int>(run.stride), run.count);
  for (const PeerId rank : kept->table()) builder.append(g[static_cast<Rank>(rank)]);
  return give(builder, g, nullptr, result);
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
      return fail(MPI_ERR_RANK, "group.rank_outside",
                  {{"argument", "ranks1"}, {"index", i}, {"value", ranks[i]}, {"has", Ranks(from).text}});
    const Rank found = index.of(from[ranks[i]]);
    out[i] = found < 0 ? MPI_UNDEFINED : found;
  }
  return {};
}

Status compare(Group& a, Group& b, int* result) {
  if (&a == &b || a.same_members_in_order(b))
    *result = MPI_IDENT;
  else
    *result = a.size() == b.size() && count_common(a, b) == a.size() ? MPI_SIMILAR : MPI_UNEQUAL;
  return {};
}

Status union_(Group& a, Group& b, Group** result) {
  GroupBuilder builder;
  builder.append_all(a);
  append_members(builder, b, a, false);
  return give(builder, a, &b, result);
}

Status intersection(Group& a, Group& b, Group** result) {
  GroupBuilder builder;
  append_members(builder, a, b, true);
  return give(builder, a, &b, result);
}

Status difference(Group& a, Group& b, Group** result) {
  GroupBuilder builder;
  append_members(builder, a, b, false);
  return give(builder, a, &b, result);
}

Status incl(Group& g, int n, const int* ranks, Group** result) {
  ASHLAR_TRY(check_ranks(g, n, ranks));
  GroupBuilder builder;
  for (int i = 0; i < n; ++i) builder.append(g[ranks[i]]);
  return give(builder, g, nullptr, result);
}

Status excl(Group& g, int n, const int* ranks, Group** result) {
  ASHLAR_TRY(check_ranks(g, n, ranks));
  GroupBuilder listed;
  for (int i = 0; i < n; ++i) listed.append(ranks[i]);
  return without(g, listed, result);
}

Status range_incl(Group& g, int n, int (*ranges)[3], Group** result) {
  std::vector<Listed> listed;
  ASHLAR_TRY(check_ranges(g, n, ranges, &listed));
  GroupBuilder builder;
  for (const Listed& range : listed)
    builder.append_ranks(g, static_cast<Rank>(range.run.first), static_cast<int>(range.run.stride), range.run.count);
  return give(builder, g, nullptr, result);
}

Status range_excl(Group& g, int n, int (*ranges)[3], Group** result) {
  std::vector<Listed> listed;
  ASHLAR_TRY(check_ranges(g, n, ranges, &listed));
  GroupBuilder ranks;
  for (const Listed& range : listed) ranks.append(range.run.first, range.run.stride, range.run.count);
  return without(g, ranks, result);
}

Status free(Group** g) {
  release(*g);  // MPI_GROUP_EMPTY keeps its storage whatever the count (destroy() of a predefined group does nothing)
  *g = nullptr;
  return {};
}

Group& empty() { return *resolve(MPI_GROUP_EMPTY); }

}  // namespace ashlar::group
