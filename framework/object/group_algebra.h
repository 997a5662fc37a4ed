#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "framework/object/group.h"
#include "framework/object/group_builder.h"

/// Sets of processes on runs: what two groups have in common is found run by run, by arithmetic.
namespace ashlar::group {

/// Some places of a row: first, first + step ... `count` of them.
struct Places {
  std::int64_t first, step;
  int count;
  std::int64_t last() const { return first + (count - 1) * step; }
};

/// The places in `a` whose process is in `b` too, rising.
Places common(const Run& a, const Run& b);

/// Process -> rank, for operations that ask many times.
class RankIndex {
 public:
  explicit RankIndex(const Group& g);
  Rank of(PeerId peer) const;

 private:
  const Group& group_;
  std::vector<const Run*> by_lowest_;            // of many runs that do not overlap
  std::unordered_map<PeerId, Rank> by_process_;  // of others
};

/// Appends the members of `a` that are (`in`) or are not in `b`, in the order of `a`.
void append_members(GroupBuilder& builder, const Group& a, const Group& b, bool in);

/// How many processes are in both.
std::int64_t count_common(const Group& a, const Group& b);

/// The first rank of `g` whose process is (`in`) or is not in `other`, or -1.
Rank first_member(const Group& g, const Group& other, bool in);

}  // namespace ashlar::group
