#include "components/coll/inter/algorithms.h"
#include "components/coll/inter/own_group.h"

namespace ashlar::coll::inter {

/// Each group meets; the leaders tell each other; each leader tells its group.
Co barrier(Op& op, const Call&) {
  CommState& own = own_group(op);
  Op part(op, own.wire, op.rank(), op.size());
  Gate gate;
  Status st;
  std::byte token{};
  Call call;
  if (op.size() > 1) {
    const Co meeting = run_part(op, part, own, call);
    op.join(meeting, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (op.rank() == 0) {
    op.recv(0, nullptr, 0, gate);
    op.send(0, nullptr, 0, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (op.size() > 1) {
    call = bcast_from_first(Op::view(&token, 1));
    const Co telling = run_part(op, part, own, call);
    op.join(telling, gate);
    st = co_await gate;
  }
  co_return st;
}

}  // namespace ashlar::coll::inter
