#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/pieces.h"

namespace ashlar::coll::p2p {

/// Linear: every rank hands each piece to its owner, who takes them from the ranks n - 1, n - 2 ... 0 in turn. The
/// textbook definition, as our MPI_Reduce has it. Serves reduce_scatter and reduce_scatter_block.
/// 1 round, n (n - 1) messages (empty pieces do not travel), (n - 1) m bytes. Each item of the result is
/// a0 op (a1 op (... a[n-1])) whatever n and the placement, so any operation may be used.
Co reduce_scatter_linear(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const int last = size - 1;
  const Pieces pieces = Pieces::of(op, call);
  if (pieces.begins == nullptr) co_return op.failure();
  const MPI_Count mine = call.recv.count;
  Datatype& type = *call.send.type;
  Status st;
  Gate arriving, following, leaving;
  for (int step = 1; step < size; ++step) {
    const Rank to = (me - step + size) % size;  // those that wait for us first come first
    if (pieces.size(to) > 0) op.send(to, pieces.view(call, call.send.data, to, to + 1), leaving);
  }
  if (mine > 0) {
    // In place, the result would lie on operands that have yet to leave.
    const bool apart = call.send.data == call.recv.data;
    const std::byte* const own = pieces.at(call.send.data, me);
    std::byte* const sum = apart ? op.scratch_items(mine, type) : static_cast<std::byte*>(call.recv.data);
    std::byte* buffer = op.scratch_items(mine, type);
    std::byte* next_buffer = op.scratch_items(mine, type);
    if (me == last) {
      op.copy_items(own, sum, mine, type);
    } else {
      op.recv(last, DataView{sum, mine, &type}, arriving);
    }
    for (int from = last - 1; from >= -1; --from) {
      // `arriving` is the operand of from + 1; post that of `from` before it is needed.
      if (from >= 0 && from != me) op.recv(from, DataView{next_buffer, mine, &type}, following);
      st = co_await arriving;
      if (!st.ok()) break;
      if (from + 1 < last) op.combine(call, from + 1 == me ? own : buffer, sum, mine);
      if (from < 0) break;
      st = co_await following;
      if (!st.ok()) break;
      std::byte* const other = buffer;
      buffer = next_buffer;
      next_buffer = other;
    }
    st = co_await following;
    st = co_await arriving;
    st = co_await leaving;
    if (apart) op.copy_items(sum, call.recv.data, mine, type);
    co_return st;
  }
  st = co_await leaving;
  co_return st;
}

}  // namespace ashlar::coll::p2p
