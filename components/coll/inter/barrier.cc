#include "components/coll/inter/algorithms.h"
#include "components/coll/inter/groups.h"

namespace ashlar::coll::inter {

/// A barrier in each group, an exchange of the leaders, a broadcast in each group (Silva and Silva, 1999).
/// lg n + 1 + depth rounds, with n of the larger group and the depth of its broadcast.
Co barrier(Op& op, const Call&) {
  const Groups* const groups = Groups::of(op);
  if (groups == nullptr) co_return op.failure();
  Op part(op, *groups->own, op.rank(), op.size());
  Gate gate;
  Status st;
  std::byte token{};
  Call call;
  if (op.size() > 1) {
    const Co meeting = run_part(op, part, *groups->inside, call);
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
    const Co broadcasting = run_part(op, part, *groups->inside, call);
    op.join(broadcasting, gate);
    st = co_await gate;
  }
  co_return st;
}

}  // namespace ashlar::coll::inter
