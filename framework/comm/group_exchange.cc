#include "framework/comm/group_exchange.h"

#include <algorithm>

#include "framework/comm/words.h"
#include "framework/object/comm.h"

namespace ashlar::comm {

Status group_max(Comm& comm, Group& group, int tag, std::int64_t* values, int count) {
  constexpr int kMostValues = 4;
  Words words(comm, tag);
  const auto rank_in_comm = [&](Rank r) { return comm.local_group->rank_of(group[r]); };
  const Rank me = group.own_rank();
  const int size = group.size();
  std::int64_t other[kMostValues];
  int bit = 1;
  for (; bit < size; bit <<= 1) {
    if (me & bit) {
      ASHLAR_TRY(words.send(rank_in_comm(me - bit), values, count));
      break;
    }
    if (me + bit >= size) continue;
    ASHLAR_TRY(words.receive(rank_in_comm(me + bit), other, count));
    for (int i = 0; i < count; ++i) values[i] = std::max(values[i], other[i]);
  }
  if (me != 0) ASHLAR_TRY(words.receive(rank_in_comm(me - bit), values, count));
  for (bit >>= 1; bit > 0; bit >>= 1)
    if (me + bit < size) ASHLAR_TRY(words.send(rank_in_comm(me + bit), values, count));
  return {};
}

}  // namespace ashlar::comm
