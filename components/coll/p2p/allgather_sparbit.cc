#include "components/coll/p2p/algorithms.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Sparbit. W. Loch, G. Koslovski, "Sparbit: a new logarithmic-cost and data locality-aware MPI Allgather algorithm",
/// SBAC-PAD 2021.
/// lg rounds for any n, n (n - 1) messages of one block, n (n - 1) m bytes. As Bruck's, but from the largest distance
/// to the smallest: far partners exchange one block, near ones many, and every block goes straight to its place. Before
/// the round of distance d a rank has the blocks of the ranks a multiple of 2 d before it.
Co allgather_sparbit(Op& op, const Call& call) {
  const int size = op.size();
  const int me = op.rank();
  if (!call.in_place) op.copy(call.send, call.recv_block(me));
  int distance = 1;
  while (distance < size - distance) distance *= 2;
  Gate gate;
  Status st;
  for (; distance > 0 && size > 1; distance /= 2) {
    const Rank to = (me + distance) % size;
    const Rank from = (me - distance + size) % size;
    for (int back = 0; back + distance < size; back += 2 * distance) {
      const int arrives = back + distance;  // as many ranks before us
      op.recv(from, call.recv_block((me - arrives + size) % size), gate);
      op.send(to, call.recv_block((me - back + size) % size), gate);
    }
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  co_return op.failure();
}

}  // namespace ashlar::coll::p2p
