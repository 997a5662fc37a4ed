#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "framework/base/types.h"
#include "framework/object/object.h"
#include "framework/object/origin.h"

namespace ashlar {

/// Some ranks of a group in a row whose processes are an arithmetic sequence.
struct Run {
  Rank rank;  // the first of them
  int count;
  std::int64_t first, stride;  // processes first, first + stride ...; stride is not 0

  std::int64_t last() const { return first + (count - 1) * stride; }
  /// Where `peer` stands in it, or -1.
  int place_of(std::int64_t peer) const {
    const std::int64_t distance = peer - first;
    if (distance % stride != 0) return -1;
    const std::int64_t place = distance / stride;
    return place >= 0 && place < count ? static_cast<int>(place) : -1;
  }
  bool operator==(const Run&) const = default;
};

/// An ordered set of processes. Kept as runs where that is smaller, else as a table: a group of a million ranks that is
/// made of a few ranges takes a few words. The form follows from the members and their order alone.
class Group : public Object {
 public:
  static Group* strided(PeerId first, std::int64_t stride, int size);  // nullptr: no memory
  static Group* of(const std::vector<PeerId>& members);
  /// For GroupBuilder.
  Group(std::vector<Run> runs, std::vector<PeerId> table, int size);
  explicit Group(const Run& run);

  int size() const { return size_; }
  PeerId operator[](Rank rank) const {
    if (more_.empty() && table_.empty()) [[likely]]
      return static_cast<PeerId>(one_.first + rank * one_.stride);
    return member(rank);
  }
  /// The rank of `peer`, or -1. Looks at every run, or at the whole table.
  Rank rank_of(PeerId peer) const;
  /// The calling process's rank, or -1.
  Rank own_rank() const { return rank_of(self_peer); }

  /// Empty when it is a table.
  std::span<const Run> runs() const {
    if (!more_.empty()) return more_;
    return {&one_, size_ > 0 && table_.empty() ? std::size_t{1} : std::size_t{0}};
  }
  const std::vector<PeerId>& table() const { return table_; }
  bool same_members_in_order(const Group& other) const;

  /// Number of this process in its own table of peers; set once when its job is known.
  static PeerId self_peer;

  Ref<Origin> origin;

 private:
  PeerId member(Rank rank) const;

  const int size_;
  const Run one_;                    // of a group that is one
  const std::vector<Run> more_;      // of a group of several
  const std::vector<PeerId> table_;  // of any other
};

void destroy(Group* group);

}  // namespace ashlar
