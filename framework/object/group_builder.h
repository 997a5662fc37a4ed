#pragma once
#include <cstdint>
#include <vector>

#include "framework/object/group.h"

namespace ashlar {

/// Makes a group of members that come one after the other, alone or in runs, without writing runs out. Whatever way
/// they came, the same members in the same order make the same runs: each run goes on as long as its stride does.
class GroupBuilder {
 public:
  void append(std::int64_t peer) { append(peer, 1, 1); }
  void append(std::int64_t first, std::int64_t stride, int count);
  /// The ranks first, first + stride ... of `group`, `count` of them; all of it.
  void append_ranks(const Group& group, Rank first, int stride, int count);
  void append_all(const Group& group) { append_ranks(group, 0, 1, group.size()); }

  int size() const { return size_; }
  /// The group; nullptr: no memory. The builder is used up.
  Group* finish();

 private:
  void append_run(std::int64_t first, std::int64_t stride, int count);
  void write_out();

  // Runs, until they need more room than a table does.
  std::vector<Run> runs_;
  std::vector<PeerId> table_;
  bool as_table_ = false;
  int size_ = 0;
};

}  // namespace ashlar
