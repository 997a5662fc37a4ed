#include "framework/object/group.h"

#include <utility>

#include "framework/object/pool.h"

namespace ashlar {

PeerId Group::self_peer = 0;

namespace {

constinit Pool<Group> pool;

}  // namespace

Group* Group::strided(PeerId first, std::int64_t stride, int size) { return pool.take(first, stride, size); }

Group* Group::of(std::vector<PeerId> members) {
  if (members.empty()) return strided(0, 1, 0);
  const std::int64_t first = members[0];
  const std::int64_t stride = members.size() > 1 ? std::int64_t{members[1]} - first : 1;
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (std::int64_t{members[i]} - std::int64_t{members[i - 1]} != stride) {
      members.shrink_to_fit();
      return pool.take(std::move(members));
    }
  }
  return strided(members[0], stride, static_cast<int>(members.size()));
}

Rank Group::rank_of(PeerId peer) const {
  if (table_.empty()) {
    if (size_ == 0) return -1;
    const std::int64_t distance = std::int64_t{peer} - first_;
    if (stride_ == 0 || distance % stride_ != 0) return distance == 0 ? 0 : -1;
    const std::int64_t rank = distance / stride_;
    return rank >= 0 && rank < size_ ? static_cast<Rank>(rank) : -1;
  }
  for (std::size_t i = 0; i < table_.size(); ++i)
    if (table_[i] == peer) return static_cast<Rank>(i);
  return -1;
}

void destroy(Group* group) {
  if (group->predefined == 0) pool.put(group);
}

}  // namespace ashlar
