#include "components/coll/p2p/algorithms.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Linear: the root takes the vectors of the ranks n - 1, n - 2 ... 0 in turn. The textbook definition of MPI_Reduce.
/// 1 round, n - 1 messages of m bytes, all at the root; the result is a0 op (a1 op (... a[n-1])) whatever n and the
/// placement. The next vector arrives while one is being combined.
Co reduce_linear(Op& op, const Call& call) {
  Status st;
  Gate arriving, following;
  if (op.rank() != call.root) {
    op.send(call.root, call.send, arriving);
    st = co_await arriving;
    co_return st;
  }
  const int last = op.size() - 1;
  const MPI_Count count = call.send.count;
  Datatype& type = *call.send.type;
  auto* const result = static_cast<std::byte*>(call.recv.data);
  // In place, our own operand must survive until its turn comes.
  const bool apart = call.send.data == call.recv.data && call.root != last;
  std::byte* const sum = apart ? op.scratch_items(count, type) : result;
  std::byte* buffer = op.scratch_items(count, type);
  std::byte* next_buffer = op.scratch_items(count, type);

  if (call.root == last) {
    op.copy_items(call.send.data, sum, count, type);
  } else {
    op.recv(last, DataView{sum, count, &type}, arriving);
  }
  for (int from = last - 1; from >= -1; --from) {
    // `arriving` is the operand of from + 1; post that of `from` before it is needed.
    if (from >= 0 && from != call.root) op.recv(from, DataView{next_buffer, count, &type}, following);
    st = co_await arriving;
    if (!st.ok()) break;
    if (from + 1 < last) op.combine(call, from + 1 == call.root ? call.send.data : buffer, sum, count);
    if (from < 0) break;
    st = co_await following;
    if (!st.ok()) break;
    std::byte* const other = buffer;
    buffer = next_buffer;
    next_buffer = other;
  }
  st = co_await following;
  st = co_await arriving;
  if (apart) op.copy_items(sum, result, count, type);
  co_return st;
}

}  // namespace ashlar::coll::p2p
