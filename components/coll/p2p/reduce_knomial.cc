#include "components/coll/p2p/accumulator.h"
#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"

namespace ashlar::coll::p2p {

/// k-nomial tree towards the root; see bcast_knomial.cc.
/// n - 1 messages of m bytes; the k - 1 vectors of one level arrive together. Operands are combined in rank order as
/// seen from the root, so an operation that does not commute needs root 0. Argument: radix (4, at most 8).
Co reduce_knomial(Op& op, const Call& call) {
  constexpr int kMost = 8;
  const int size = op.size();
  const int me = from_root(op.rank(), call.root, size);
  const int wanted = op.arguments().radix > 1 ? op.arguments().radix : 4;
  const int radix = wanted < kMost ? wanted : kMost;
  const MPI_Count count = call.send.count;
  Datatype& type = *call.send.type;
  const bool leaf = me % radix != 0 || me + 1 >= size;
  Gate gate;
  Status st;
  std::byte* arriving[kMost];
  std::byte* result = me == 0 ? static_cast<std::byte*>(call.recv.data) : nullptr;
  if (!leaf && me != 0) result = op.scratch_items(count, type);
  Accumulator sum{static_cast<std::byte*>(call.send.data), nullptr, result, call.send.data != result};
  for (int i = 1; i < radix && !leaf; ++i) arriving[i] = op.scratch_items(count, type);
  std::int64_t span = 1;
  for (; span < size && me % (span * radix) == 0; span *= radix) {
    for (int digit = 1; digit < radix; ++digit) {
      const std::int64_t child = me + digit * span;
      if (child >= size) break;
      op.recv(to_rank(static_cast<int>(child), call.root, size), DataView{arriving[digit], count, &type}, gate);
    }
    st = co_await gate;
    if (!st.ok()) co_return st;
    for (int digit = 1; digit < radix && me + digit * span < size; ++digit) {
      sum.incoming = arriving[digit];
      sum.merge(op, call, false);
      arriving[digit] = sum.incoming;
    }
  }
  if (me == 0) {
    sum.finish(op, call);
    co_return op.failure();
  }
  const int parent = static_cast<int>(me - me % (span * radix));
  op.send(to_rank(parent, call.root, size), sum.value_view(call), gate);
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::p2p
