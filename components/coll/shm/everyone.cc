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
  visit.layout().contribution(visit.number, me).number.store(visit.number, std::memory_order_release);
}

/// a[first] op (... a[last]) of items [at, at + count) of the operands into `to`.
void combine_some(Op& op, const Call& call, const Visit& visit, MPI_Count bytes, std::uint32_t first,
                  std::uint32_t last, MPI_Count at, MPI_Count count, void* to) {
  const MPI_Count offset = at * call.send.type->size();
  if (first == last) return op.copy_bytes(operand(visit, bytes, first) + offset, to, count * call.send.type->size());
  op.combine(call, operand(visit, bytes, last - 1) + offset, operand(visit, bytes, last) + offset, to, count);
  for (std::uint32_t r = last - 1; r-- > first;) op.combine(call, operand(visit, bytes, r) + offset, to, count);
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
    case Collective::kReduceScatter:
    case Collective::kReduceScatterBlock: {
      MPI_Count at = 0;
      for (Rank r = 0; r < op.rank(); ++r) at += call.piece(r);
      if (call.recv.count > 0) combine_some(op, call, visit, bytes, 0, ranks - 1, at, call.recv.count, call.recv.data);
      return;
    }
    case Collective::kScan:
      return combine_some(op, call, visit, bytes, 0, me, 0, call.recv.count, call.recv.data);
    default:  // exscan: rank 0 gets nothing
      if (me > 0) combine_some(op, call, visit, bytes, 0, me - 1, 0, call.recv.count, call.recv.data);
  }
}

}  // namespace

/// Everyone leaves its data, and takes what it needs of the others': allgather, alltoall, reduce_scatter(_block), scan,
/// exscan. Flat: as soon as all lines are there. Central: when the last one to arrive says so. After the message
/// buffers of R. Graham, G. Shipman, EuroPVM/MPI 2008.
Co everyone(Op& op, const Call& call) {
  const MPI_Count bytes = contribution_bytes(op, call);
  Visit visit = Visit::begin(op, bytes);
  Gate gate;
  Status st;
  if (visit.group == nullptr) co_return op.failure();
  if (!visit.enter()) [[unlikely]] {
    const Co preparing = prepare(op, call, visit);
    op.join(preparing, gate);
    st = co_await gate;
    if (!st.ok() || visit.served_otherwise) co_return st;
  }
  const auto ranks = static_cast<std::uint32_t>(op.size());
  leave_own(op, call, visit, bytes);
  if (visit.group->flat) {
    wake_sleepers(op, visit);
  } else if (visit.layout().arrived(visit.number).fetch_add(1, std::memory_order_acq_rel) + 1 == ranks) {
    visit.layout().arrived(visit.number).store(0, std::memory_order_relaxed);
    visit.layout().result(visit.number).number.store(visit.number, std::memory_order_release);
    wake_sleepers(op, visit);
  }
  LineWait wait(op, visit, visit.group->flat);
  st = co_await wait;
  wait.over();
  if (!st.ok()) {
    visit.leave();
    co_return st;
  }
  take_result(op, call, visit, bytes);
  all_met(visit);
  done(op, visit);
  co_return op.failure();
}

}  // namespace ashlar::coll::shm
