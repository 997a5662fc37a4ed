#include "components/coll/p2p/algorithms.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Bruck's concatenation with blocks of different sizes. J. Bruck et al., IEEE TPDS 8(11), 1997; the variable form is
/// MPICH's MPI_Allgatherv for short messages.
/// lg rounds, at most n lg messages (runs of empty blocks do not travel). For a small whole.
Co allgatherv_bruck(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  // begin[i]: where the block of rank me + i starts among the packed blocks.
  auto* const begin = reinterpret_cast<MPI_Count*>(op.scratch((size + 1) * MPI_Count{sizeof(MPI_Count)}));
  if (begin == nullptr) co_return op.failure();
  begin[0] = 0;
  for (int i = 0; i < size; ++i) begin[i + 1] = begin[i] + call.recv_block((me + i) % size).bytes();
  std::byte* const blocks = op.scratch(begin[size]);
  op.copy(call.in_place ? call.recv_block(me) : call.send, Op::view(blocks, begin[1]));
  Gate gate;
  Status st;
  for (int have = 1; have < size; have *= 2) {
    const int count = have < size - have ? have : size - have;
    const MPI_Count in = begin[have + count] - begin[have];
    const MPI_Count out = begin[count];
    if (in > 0) op.recv((me + have) % size, blocks + begin[have], in, gate);
    if (out > 0) op.send((me - have + size) % size, blocks, out, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  for (int i = 0; i < size; ++i) {
    const Rank rank = (me + i) % size;
    if (i == 0 && call.in_place) continue;
    op.copy(Op::view(blocks + begin[i], begin[i + 1] - begin[i]), call.recv_block(rank));
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
