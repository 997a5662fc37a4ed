#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/halving.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Ring: reduce-scatter, then allgather, both with the next neighbour. P. Patarasuk, X. Yuan, "Bandwidth optimal
/// all-reduce algorithms for clusters of workstations", JPDC 69(2), 2009.
/// 2 (n - 1) rounds, 2 n (n - 1) messages, 2 (n - 1) m bytes in all: the least possible traffic for any n, all of it
/// between neighbours. For operations that commute, and at least n items.
Co allreduce_ring(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const Rank right = (me + 1) % size;
  const Rank left = (me - 1 + size) % size;
  const Vector vector{&call, static_cast<std::byte*>(call.send.data), static_cast<std::byte*>(call.recv.data),
                      Split{call.send.count, size}};
  std::byte* const incoming = op.scratch_items(vector.split.size(0), *call.send.type);
  Gate gate;
  Status st;
  if (size == 1) op.copy_items(vector.source, vector.result, call.send.count, *call.send.type);
  // Each part goes once round, and every rank adds its own to it; only the very first is sent as the caller gave it.
  for (int step = 0; step < size - 1; ++step) {
    const int out = (me - step + size) % size;
    const int in = (me - step - 1 + size) % size;
    op.recv(left, DataView{incoming, vector.split.size(in), call.send.type}, gate);
    op.send(right, vector.view(step == 0 ? vector.source : vector.result, out, out + 1), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    vector.add(op, incoming, in, in + 1);
  }
  for (int step = 0; step < size - 1; ++step) {
    const int out = (me + 1 - step + size) % size;
    const int in = (me - step + size) % size;
    op.recv(left, vector.view(vector.result, in, in + 1), gate);
    op.send(right, vector.view(vector.result, out, out + 1), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
