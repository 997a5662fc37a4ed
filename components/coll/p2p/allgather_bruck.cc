#include "components/coll/p2p/algorithms.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Bruck's concatenation. J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for all-to-all
/// communications in multiport message-passing systems", IEEE TPDS 8(11), 1997.
/// lg rounds for any n, n lg messages, each rank sends (n - 1) m bytes. Blocks are held packed, our own first, then
/// those of the ranks after us; the last step turns them into place. For small blocks.
Co allgather_bruck(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const MPI_Count bytes = call.recv.bytes();
  std::byte* const blocks = op.scratch(bytes * size);
  op.copy(call.in_place ? call.recv_block(me) : call.send, Op::view(blocks, bytes));
  Gate gate;
  Status st;
  for (int have = 1; have < size; have *= 2) {
    const int count = have < size - have ? have : size - have;
    op.recv((me + have) % size, blocks + bytes * have, bytes * count, gate);
    op.send((me - have + size) % size, blocks, bytes * count, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  DataView high = call.recv_block(me);
  high.count *= size - me;
  op.copy(Op::view(blocks, bytes * (size - me)), high);
  DataView low = call.recv_block(0);
  low.count *= me;
  op.copy(Op::view(blocks + bytes * (size - me), bytes * me), low);
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
