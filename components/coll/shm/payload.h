#pragma once
#include <cstddef>

#include "components/coll/shm/waits.h"

namespace ashlar::coll::shm {

/// Where rank r's operand of this visit lies: inside its line, or in its large place.
inline std::byte* operand(const Visit& visit, MPI_Count bytes, std::uint32_t r) {
  return is_inline(bytes) ? visit.layout().contribution(visit.number, r).data
                          : visit.layout().large_contribution(visit.number, r);
}
inline std::byte* result_place(const Visit& visit, MPI_Count bytes) {
  return is_inline(bytes) ? visit.layout().result(visit.number).data : visit.layout().large_result(visit.number);
}

/// Says that our line, and what belongs to it, is written.
inline void sign(const Op& op, const Visit& visit) {
  visit.layout()
      .contribution(visit.number, static_cast<std::uint32_t>(op.rank()))
      .number.store(visit.word(), std::memory_order_release);
}
/// Says that the result is there.
inline void publish(Op& op, const Visit& visit) {
  visit.layout().result(visit.number).number.store(visit.word(), std::memory_order_release);
  wake_sleepers(op, visit);
}
/// The last one to arrive publishes for all: only it has looked at every rank's line.
inline void publish_for_all(Op& op, const Visit& visit, bool alike) {
  if (alike) [[likely]]
    return publish(op, visit);
  Visit nobodys = visit;
  nobodys.mark = ~visit.mark & ~kNumberMask;  // so that every rank finds out, this one as well
  publish(op, nobodys);
}

/// Writes our operand (a dense one) and says so.
inline void contribute(Op& op, const Call& call, const Visit& visit) {
  op.copy_bytes(call.send.data, operand(visit, call.bytes, static_cast<std::uint32_t>(op.rank())), call.bytes);
  sign(op, visit);
}

/// Whether this rank is the last one to count itself in.
inline bool last_to_arrive(const Op& op, const Visit& visit) {
  auto& arrived = visit.layout().arrived(visit.number);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != static_cast<std::uint32_t>(op.size())) return false;
  arrived.store(0, std::memory_order_relaxed);
  return true;
}

/// Arrives, our line being signed; LineWait::everyone waits for the others.
inline void meet(Op& op, const Visit& visit) {
  if (visit.group->flat) {
    wake_sleepers(op, visit);
  } else if (last_to_arrive(op, visit)) {
    publish_for_all(op, visit, all_alike(visit));
  }
}

/// a0 op (a1 op (... a[n-1])) into `to`, a dense buffer.
inline void combine_all(Op& op, const Call& call, const Visit& visit, void* to) {
  const MPI_Count bytes = call.bytes;
  const auto last = static_cast<std::uint32_t>(op.size()) - 1;  // at least 1
  op.combine(call, operand(visit, bytes, last - 1), operand(visit, bytes, last), to, call.send.count);
  for (std::uint32_t r = last - 1; r-- > 0;) op.combine(call, operand(visit, bytes, r), to, call.send.count);
}

/// Ends our part of this number: nothing of its slot will be looked at again. With the last one, the next collective's
/// turn. Whoever sleeps until a slot is free is woken; without a fence that may be missed once in a while, and then he
/// looks himself when his sleep ends.
inline void done(Op& op, const Visit& visit) {
  const Layout& layout = visit.layout();
  layout.rank(static_cast<std::uint32_t>(op.rank())).done.store(visit.number, std::memory_order_release);
  if (!visit.group->flat) tell_core(op, visit);
  if (visit.number == visit.last) visit.leave();
  if (layout.header().sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
    wake_announced(op, visit);
}
/// The same, where another rank waits for it.
inline void done_and_tell(Op& op, const Visit& visit) {
  visit.layout().rank(static_cast<std::uint32_t>(op.rank())).done.store(visit.number, std::memory_order_release);
  if (visit.number == visit.last) visit.leave();
  wake_sleepers(op, visit);
}

/// After a number at which everyone has heard from everyone: all had ended the one before.
inline void all_met(const Visit& visit) {
  if (visit.group->all_done < visit.number - 1) visit.group->all_done = visit.number - 1;
}

}  // namespace ashlar::coll::shm
