#include "components/coll/inter/algorithms.h"
#include "components/coll/inter/groups.h"

namespace ashlar::coll::inter {
namespace {

/// Rank 0 of the own group gets the group's result, the others nullptr.
std::byte* result_place(Op& op, const Call& call) {
  return op.rank() == 0 ? op.scratch_items(call.send.count, *call.send.type) : nullptr;
}

}  // namespace

/// The group without the root reduces to its leader, which sends to the root: depth + 1 rounds, n messages of m bytes
/// for a group of n.
Co reduce(Op& op, const Call& call) {
  Gate gate;
  Status st;
  if (call.root == MPI_ROOT) {
    op.recv(0, call.recv, gate);
    st = co_await gate;
    co_return st;
  }
  const Groups* const groups = Groups::of(op);
  if (groups == nullptr) co_return op.failure();
  Op part(op, *groups->own, op.rank(), op.size());
  std::byte* const sum = result_place(op, call);
  const Call inner = reduce_to_first(call, sum);
  const Co reducing = run_part(op, part, *groups->inside, inner);
  op.join(reducing, gate);
  st = co_await gate;
  if (!st.ok() || op.rank() != 0) co_return st;
  op.send(call.root, DataView{sum, call.send.count, call.send.type}, gate);
  st = co_await gate;
  co_return st;
}

/// Each group reduces to its leader; the leaders exchange; each leader broadcasts in its group.
Co allreduce(Op& op, const Call& call) {
  const Groups* const groups = Groups::of(op);
  if (groups == nullptr) co_return op.failure();
  Op part(op, *groups->own, op.rank(), op.size());
  Gate gate;
  Status st;
  std::byte* const sum = result_place(op, call);
  Call inner = reduce_to_first(call, sum);
  const Co reducing = run_part(op, part, *groups->inside, inner);
  op.join(reducing, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  if (op.rank() == 0) {
    op.recv(0, call.recv, gate);
    op.send(0, DataView{sum, call.send.count, call.send.type}, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
  }
  if (op.size() == 1) co_return st;
  inner = bcast_from_first(call.recv);
  const Co broadcasting = run_part(op, part, *groups->inside, inner);
  op.join(broadcasting, gate);
  st = co_await gate;
  co_return st;
}

/// As allreduce, but each leader scatters the result. The whole vector is as long in both groups; its pieces are those
/// of the own group.
Co reduce_scatter(Op& op, const Call& call) {
  const Groups* const groups = Groups::of(op);
  if (groups == nullptr) co_return op.failure();
  Op part(op, *groups->own, op.rank(), op.size());
  Gate gate;
  Status st;
  std::byte* const sum = result_place(op, call);
  std::byte* const theirs = result_place(op, call);
  Call inner = reduce_to_first(call, sum);
  const Co reducing = run_part(op, part, *groups->inside, inner);
  op.join(reducing, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  inner = Call{};
  inner.what = call.recv_counts ? Collective::kScatterv : Collective::kScatter;
  inner.root = 0;
  inner.recv = call.recv;
  if (op.rank() == 0) {
    op.recv(0, DataView{theirs, call.send.count, call.send.type}, gate);
    op.send(0, DataView{sum, call.send.count, call.send.type}, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    inner.send = DataView{theirs, call.recv.count, call.recv.type};
    if (call.recv_counts) {
      auto* const begins = reinterpret_cast<MPI_Count*>(op.scratch(op.size() * MPI_Count{sizeof(MPI_Count)}));
      if (begins == nullptr) co_return op.failure();
      MPI_Count at = 0;
      for (Rank i = 0; i < op.size(); ++i) {
        begins[i] = at;
        at += call.piece(i);
      }
      inner.send.count = 0;
      inner.send_counts = call.recv_counts;
      inner.send_displs = IntArray(begins);
    }
  }
  inner.bytes = inner.quantity(op.size());
  const Co scattering = run_part(op, part, *groups->inside, inner);
  op.join(scattering, gate);
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::inter
