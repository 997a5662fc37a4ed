#include "components/coll/p2p/algorithms.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Neighbour exchange. J. Chen, L. Zhang, Y. Zhang, W. Yuan, "Performance evaluation of allgather algorithms on
/// terascale Linux cluster with fast Ethernet", HPC-Asia 2005.
/// n / 2 rounds for an even n, n * n / 2 messages, n (n - 1) m bytes: half the rounds of the ring, two blocks at a
/// time, to the left and to the right in turn. Pairs of blocks (2 i, 2 i + 1) travel together.
Co allgather_neighbour_exchange(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  const bool even = me % 2 == 0;
  if (!call.in_place) op.copy(call.send, call.recv_block(me));
  // Partner in odd and even rounds, and how far the pair that arrives moves on each time.
  const Rank first = even ? (me + 1) % size : (me - 1 + size) % size;
  const Rank second = even ? (me - 1 + size) % size : (me + 1) % size;
  int arriving[2] = {me - me % 2, me - me % 2};
  int leaving = me - me % 2;
  Gate gate;
  Status st;
  op.recv(first, call.recv_block(first), gate);
  op.send(first, call.recv_block(me), gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  for (int round = 1; round < size / 2; ++round) {
    const int side = round % 2;
    const int step = (side == 0) == even ? 2 : -2;
    arriving[side] = (arriving[side] + step + size) % size;
    const Rank partner = side == 0 ? first : second;
    DataView in = call.recv_block(arriving[side]);
    DataView out = call.recv_block(leaving);
    in.count *= 2;
    out.count *= 2;
    op.recv(partner, in, gate);
    op.send(partner, out, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    leaving = arriving[side];
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
