#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Bruck's index algorithm. J. Bruck et al., IEEE TPDS 8(11), 1997.
/// lg rounds, n lg messages. Slot i holds a block that has i ranks still to go; in round k all slots whose bit k is set
/// move 2^k ranks on. A block moves once per set bit of its distance: about n lg / 2 blocks per rank instead of n - 1,
/// in lg messages. For small blocks.
Co alltoall_bruck(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const MPI_Count bytes = call.recv.bytes();
  std::byte* const slots = op.scratch(bytes * size);
  // At most half the slots (rounded up) move in one round.
  std::byte* const leaving = op.scratch(bytes * ((size + 1) / 2));
  std::byte* const arriving = op.scratch(bytes * ((size + 1) / 2));
  for (int i = 0; i < size; ++i) {
    const Rank to = (me + i) % size;
    op.copy(call.in_place ? call.recv_block(to) : call.send_block(to), Op::view(slots + bytes * i, bytes));
  }
  Gate gate;
  Status st;
  for (int bit = 1; bit < size; bit *= 2) {
    MPI_Count moving = 0;
    for (int i = bit; i < size; ++i) {
      if ((i & bit) == 0) continue;
      op.copy_bytes(slots + bytes * i, leaving + moving, bytes);
      moving += bytes;
    }
    op.recv((me - bit + size) % size, arriving, moving, gate);
    op.send((me + bit) % size, leaving, moving, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    moving = 0;
    for (int i = bit; i < size; ++i) {
      if ((i & bit) == 0) continue;
      op.copy_bytes(arriving + moving, slots + bytes * i, bytes);
      moving += bytes;
    }
  }
  // Slot i came from the rank i before us.
  for (int i = 0; i < size; ++i) op.copy(Op::view(slots + bytes * i, bytes), call.recv_block((me - i + size) % size));
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
