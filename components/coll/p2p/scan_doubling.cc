#include "components/coll/p2p/accumulator.h"
#include "components/coll/p2p/algorithms.h"

namespace ashlar::coll::p2p {

/// Doubling. W. D. Hillis, G. L. Steele, "Data parallel algorithms", CACM 29(12), 1986.
/// lg rounds, n lg - (2^lg - 1) messages of m bytes: before round k a rank has reduced the 2^k ranks up to itself, and
/// gets those before them. Operands are combined in rank order, so any operation may be used.
Co scan_doubling(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  Gate gate;
  Status st;
  Accumulator sum = Accumulator::start(op, call, static_cast<std::byte*>(call.recv.data));
  for (int distance = 1; distance < size; distance *= 2) {
    if (me >= distance) op.recv(me - distance, sum.incoming_view(call), gate);
    if (me + distance < size) op.send(me + distance, sum.value_view(call), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    if (me >= distance) sum.merge(op, call, true);
  }
  sum.finish(op, call);
  co_return op.failure();
}

/// The same for the ranks before us alone: a second sum that leaves our own operand out. Rank 0 gets nothing, and its
/// buffer is not touched.
Co exscan_doubling(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const MPI_Count count = call.send.count;
  Datatype& type = *call.send.type;
  auto* const before = static_cast<std::byte*>(call.recv.data);
  bool any_before = false;
  Gate gate;
  Status st;
  // In place, our operand lies where the result goes: it is out of the way after the first merge, which comes before.
  Accumulator sum = Accumulator::start(op, call, nullptr);
  sum.borrowed = true;
  if (size > 1) sum.result = op.scratch_items(count, type);
  for (int distance = 1; distance < size; distance *= 2) {
    if (me >= distance) op.recv(me - distance, sum.incoming_view(call), gate);
    if (me + distance < size) op.send(me + distance, sum.value_view(call), gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    if (me < distance) continue;
    sum.merge(op, call, true);  // leaves `incoming` as it is
    if (any_before) {
      op.combine(call, sum.incoming, before, count);
    } else {
      op.copy_items(sum.incoming, before, count, type);
    }
    any_before = true;
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
