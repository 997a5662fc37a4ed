#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Pipelined binary tree towards the root. J. Pjesivac-Grbovic et al., "Performance analysis of MPI collective
/// operations", Cluster Computing 10(2), 2007.
/// s segments over a tree of depth d = floor(log2 n): d - 1 + s rounds at best (of n > 1), (n - 1) s messages, (n - 1)
/// m bytes; an inner rank gets twice as much as it sends. The next segment arrives while one is combined. For
/// operations that commute. Argument: segment (bytes, 64 KiB).
Co reduce_binary(Op& op, const Call& call) {
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  Datatype& type = *call.send.type;
  const MPI_Count wanted = op.arguments().segment > 0 ? op.arguments().segment : 64 * 1024;
  const MPI_Count segment = type.size() > 0 && wanted > type.size() ? wanted / type.size() : 1;
  const MPI_Count count = call.send.count;
  if (count == 0) co_return op.failure();
  const int left = 2 * me + 1;  // at most twice the ranks, which fit an int by far
  const int children = left >= size ? 0 : left + 1 < size ? 2 : 1;
  const Rank parent = me > 0 ? to_rank((me - 1) / 2, call.root, size) : 0;
  auto* const own = static_cast<std::byte*>(call.send.data);
  Status st;
  Gate arriving, leaving;
  std::byte* sum = nullptr;
  std::byte* incoming[2][2] = {};  // by turn and child
  if (children > 0) {
    sum = me == 0 ? static_cast<std::byte*>(call.recv.data) : op.scratch_items(count, type);
    const MPI_Count most = segment < count ? segment : count;
    for (int i = 0; i < 2 * children; ++i) incoming[i / children][i % children] = op.scratch_items(most, type);
  }
  for (int child = 0; child < children; ++child)
    op.recv(to_rank(left + child, call.root, size),
            DataView{incoming[0][child], segment < count ? segment : count, &type}, arriving);
  int turn = 0;
  for (MPI_Count at = 0; at < count; at += segment) {
    const MPI_Count length = count - at < segment ? count - at : segment;
    const MPI_Count next = at + length;
    const MPI_Count next_length = count - next < segment ? count - next : segment;
    st = co_await arriving;
    if (!st.ok()) break;
    for (int child = 0; child < children && next < count; ++child)
      op.recv(to_rank(left + child, call.root, size), DataView{incoming[1 - turn][child], next_length, &type},
              arriving);
    const MPI_Count offset = at * type.extent();
    std::byte* from = own + offset;
    for (int child = 0; child < children; ++child) {
      // The first one with our operand, which may lie where the sum goes.
      std::byte* const to = sum + offset;
      if (from == to)
        op.combine(call, incoming[turn][child], to, length);
      else
        op.combine(call, from, incoming[turn][child], to, length);
      from = to;
    }
    turn = 1 - turn;
    if (me == 0) continue;
    st = co_await leaving;
    if (!st.ok()) break;
    op.send(parent, DataView{from, length, &type}, leaving);
  }
  st = co_await arriving;
  st = co_await leaving;
  if (st.ok() && size == 1) op.copy_items(own, call.recv.data, count, type);
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
