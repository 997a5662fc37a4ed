#include "components/coll/shm/algorithms.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {
namespace {

/// Bytes that each rank leaves for the others.
MPI_Count contribution_bytes(const Op& op, const Call& call) {
  if (call.what == Collective::kAlltoall) return call.recv.bytes() * op.size();
  return call.what == Collective::kAllgather ? call.recv.bytes() : call.bytes;
}

void leave_own(Op& op, const Call& call, const Visit& visit, MPI_Count bytes) {
  const auto me = static_cast<std::uint32_t>(op.rank());
  const DataView place = Op::view(operand(visit, bytes, me), bytes);
  if (call.what == Collective::kAllgather) {
    op.copy(call.in_place ? call.recv_block(op.rank()) : call.send, place);
  } else if (call.what == Collective::kAlltoall) {
    DataView all = call.in_place ? call.recv : call.send;
    all.count *= op.size();
    op.copy(all, place);
  } else {
    op.copy_bytes(call.send.data, place.data, bytes);
  }
  sign(op, visit);
}

/// a0 op (... a[n-1]) of items [at, at + count) of the operands into `to`.
void combine_some(Op& op, const Call& call, const Visit& visit, MPI_Count bytes, MPI_Count at, MPI_Count count,
                  void* to) {
  const MPI_Count offset = at * call.send.type->size();
  const auto last = static_cast<std::uint32_t>(op.size()) - 1;
  op.combine(call, operand(visit, bytes, last - 1) + offset, operand(visit, bytes, last) + offset, to, count);
  for (std::uint32_t r = last - 1; r-- > 0;) op.combine(call, operand(visit, bytes, r) + offset, to, count);
}

void take_result(Op& op, const Call& call, const Visit& visit, MPI_Count bytes) {
  const auto me = static_cast<std::uint32_t>(op.rank());
  const auto ranks = static_cast<std::uint32_t>(op.size());
  switch (call.what) {
    case Collective::kAllgather:
      for (std::uint32_t r = 0; r < ranks; ++r) {
        if (r == me && call.in_place) continue;
        op.copy(Op::view(operand(visit, bytes, r), bytes), call.recv_block(static_cast<Rank>(r)));
      }
      return;
    case Collective::kAlltoall: {
      const MPI_Count block = call.recv.bytes();
      for (std::uint32_t r = 0; r < ranks; ++r)
        op.copy(Op::view(operand(visit, bytes, r) + block * me, block), call.recv_block(static_cast<Rank>(r)));
      return;
    }
    default: {  // reduce_scatter(_block)
      MPI_Count at = 0;
      for (Rank r = 0; r < op.rank(); ++r) at += call.piece(r);
      if (call.recv.count > 0) combine_some(op, call, visit, bytes, at, call.recv.count, call.recv.data);
      return;
    }
  }
}

}  // namespace

Stay everyone_stay(const Op& op, const Call& call) { return Stay{contribution_bytes(op, call)}; }

/// Everyone leaves its data, and takes what it needs of the others': allgather, alltoall, reduce_scatter(_block).
/// Flat: as soon as all lines are there. Central: when the last one to arrive says so. After the message
/// buffers of R. Graham, G. Shipman, EuroPVM/MPI 2008.
Co everyone(Op& op, const Call& call, Visit visit) {
  Status st;
  const MPI_Count bytes = contribution_bytes(op, call);
  leave_own(op, call, visit, bytes);
  meet(op, visit);
  LineWait wait = LineWait::everyone(op, visit);
  st = co_await wait;
  if (wait.failed()) co_return st;
  take_result(op, call, visit, bytes);
  all_met(visit);
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm
