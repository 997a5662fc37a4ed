#pragma once
#include <cstdint>
#include <vector>

#include "framework/base/types.h"
#include "framework/object/object.h"

namespace ashlar {

/// An ordered set of processes. Contiguous and strided sets are three numbers; others are a table.
class Group : public Object {
 public:
  static Group* strided(PeerId first, std::int64_t stride, int size);  // nullptr: no memory
  /// Takes the sparse form when the table is an arithmetic sequence.
  static Group* of(std::vector<PeerId> members);

  int size() const { return size_; }
  /// Whether it is three numbers and not a table.
  bool sparse() const { return table_.empty(); }
  PeerId operator[](Rank rank) const {
    return table_.empty() ? static_cast<PeerId>(first_ + rank * stride_) : table_[static_cast<std::size_t>(rank)];
  }
  /// The rank of `peer`, or -1. Constant time in the sparse forms.
  Rank rank_of(PeerId peer) const;
  /// The calling process's rank, or -1.
  Rank own_rank() const { return rank_of(self_peer); }

  /// Number of this process in its own table of peers; set once when its job is known.
  static PeerId self_peer;

  Group(PeerId first, std::int64_t stride, int size)
      : Object(Kind::kGroup), first_(first), stride_(stride), size_(size) {}
  explicit Group(std::vector<PeerId> table)
      : Object(Kind::kGroup), first_(0), stride_(0), size_(static_cast<int>(table.size())), table_(std::move(table)) {}

 private:
  std::int64_t first_, stride_;
  int size_;
  std::vector<PeerId> table_;
};

void destroy(Group* group);

}  // namespace ashlar
