#include "framework/comm/group_exchange.h"

#include <mpi.h>

#include <algorithm>

#include "framework/datatype/data_view.h"
#include "framework/object/comm.h"
#include "framework/object/handle.h"
#include "framework/p2p/internal.h"
#include "framework/p2p/reason.h"
#include "framework/progress/gate.h"
#include "framework/progress/waiting.h"

namespace ashlar::comm {
namespace {

// Collectives number their operations from 0 upwards in the low bits; this bit keeps the two apart.
constexpr int kGroupTag = 0x40000000;
constexpr int kMostValues = 4;

class Exchange {
 public:
  Exchange(Comm& comm, int tag) : comm_(comm), tag_(kGroupTag | (tag & (kGroupTag - 1))) {}

  Status send(Rank to, const std::int64_t* values, int count) {
    const LaneGuard guard(comm_.lane->lock);
    Gate gate;
    ASHLAR_TRY(p2p::post_send(comm_, DataView::of(values, count, *resolve(MPI_INT64_T)), to, tag_, gate));
    progress::wait(*comm_.lane, [&] { return gate.open(); }, p2p::because_of(gate));
    return gate.status();
  }
  Status receive(Rank from, std::int64_t* values, int count) {
    const LaneGuard guard(comm_.lane->lock);
    Gate gate;
    ASHLAR_TRY(p2p::post_recv(comm_, DataView::of(values, count, *resolve(MPI_INT64_T)), from, tag_, gate));
    progress::wait(*comm_.lane, [&] { return gate.open(); }, p2p::because_of(gate));
    return gate.status();
  }

 private:
  Comm& comm_;
  int tag_;
};

}  // namespace

Status group_max(Comm& comm, Group& group, int tag, std::int64_t* values, int count) {
  Exchange exchange(comm, tag);
  const auto rank_in_comm = [&](Rank r) { return comm.local_group->rank_of(group[r]); };
  const Rank me = group.own_rank();
  const int size = group.size();
  std::int64_t other[kMostValues];
  int bit = 1;
  for (; bit < size; bit <<= 1) {
    if (me & bit) {
      ASHLAR_TRY(exchange.send(rank_in_comm(me - bit), values, count));
      break;
    }
    if (me + bit >= size) continue;
    ASHLAR_TRY(exchange.receive(rank_in_comm(me + bit), other, count));
    for (int i = 0; i < count; ++i) values[i] = std::max(values[i], other[i]);
  }
  if (me != 0) ASHLAR_TRY(exchange.receive(rank_in_comm(me - bit), values, count));
  for (bit >>= 1; bit > 0; bit >>= 1)
    if (me + bit < size) ASHLAR_TRY(exchange.send(rank_in_comm(me + bit), values, count));
  return {};
}

}  // namespace ashlar::comm
