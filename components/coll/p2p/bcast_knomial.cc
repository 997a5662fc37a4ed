#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// k-nomial tree: like the binomial one, in base k. M. Ruefenacht, M. Bull, S. Booth, "Generalisation of recursive
/// doubling for AllReduce", Parallel Computing 69, 2017, for the idea of the radix; W. Hsu et al. for trees.
/// As many rounds as the most digits of a rank in base k that are not zero, n - 1 messages of m bytes. Fewer rounds
/// than the binomial tree where a rank can keep several messages in flight. Argument: radix (4).
Co bcast_knomial(Op& op, const Call& call) {
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  const int radix = op.arguments().radix > 1 ? op.arguments().radix : 4;
  Gate gate;
  Status st;
  std::int64_t span = 1;
  while (span < size && me % (span * radix) == 0) span *= radix;
  if (me != 0) {
    const int parent = static_cast<int>(me - me % (span * radix));
    op.recv(to_rank(parent, call.root, size), call.recv, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  // The largest subtrees first: they have the longest way to go.
  for (span /= radix; span > 0; span /= radix) {
    for (int digit = 1; digit < radix; ++digit) {
      const std::int64_t child = me + digit * span;
      if (child < size) op.send(to_rank(static_cast<int>(child), call.root, size), call.recv, gate);
    }
  }
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::p2p
