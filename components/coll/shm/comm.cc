#include "components/coll/shm/comm.h"

#include <mpi.h>

#include <new>

#include "components/coll/shm/attach.h"
#include "components/coll/shm/module.h"
#include "components/coll/shm/segment/waits.h"
#include "framework/base/failure.h"
#include "framework/coll/dispatch.h"
#include "framework/coll/part.h"

namespace ashlar::coll::shm {

ShmComm* ShmComm::make(Op& op, Slot& slot) {
  slot.data = new (std::nothrow) ShmComm(op.wire(), op.rank());
  slot.drop = [](void* data) { delete static_cast<ShmComm*>(data); };
  if (slot.data == nullptr)
    op.fail(fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the shared segment of a communicator"}}));
  return static_cast<ShmComm*>(slot.data);
}

void note_root(const Op& op, const Call& call) {
  auto* const comm = static_cast<ShmComm*>(op.comm()->slots[op.component() % CommState::kSlots].data);
  if (comm == nullptr) return;
  comm->before = comm->latest;
  switch (call.what) {
    case Collective::kBcast:
    case Collective::kScatter:
    case Collective::kScatterv:
      comm->latest = {.root = call.root, .root_first = true};
      return;
    case Collective::kReduce:
    case Collective::kGather:
    case Collective::kGatherv:
      comm->latest = {.root = call.root, .root_first = false};
      return;
    default:
      comm->latest = {};
  }
}

namespace {

/// Counts the ticket, whose collective this rank takes no part in.
Co leave(const ShmComm& comm, const Ticket& ticket) {
  if (comm.state != ShmComm::State::kAttached) {
    ticket.abandon();
    return Co();
  }
  ticket.member->state().done.store(ticket.last, std::memory_order_seq_cst);
  ticket.end_turn();
  wake_announced(ticket);
  return Co();
}

}  // namespace

Co enter_own(Op& op, const Call& call, ShmComm& comm, const Need& need, bool proves, Body body) {
  const PartGroup* const group = op.part_group();
  const Ticket ticket = Ticket::take(comm.member, group == nullptr ? call : *group->called, need.payloads,
                                     need.numbers + (proves ? 1 : 0));
  if (group != nullptr && group->leaves) return leave(comm, ticket);
  return begin(op, call, comm, ticket, need.single_copy, proves, body);
}

Co leave_to_others(Op& op, const Call& call, Ticket ticket, Trait missing) {
  Status st;
  Gate gate;
  ticket.number = ticket.last;
  done(ticket);
  const Co other = instead_of(op, call, missing);
  op.join(other, gate);
  st = co_await gate;
  co_return st;
}

Co begin_late(Op& op, const Call& call, Ticket ticket, Need::SingleCopy need, bool proves, Body body) {
  ShmComm& comm = *ShmComm::of(op);
  count_shared(module().counters.late_starts);
  // The communicator's positions do not count what persistent operations have for themselves.
  const bool counted = !op.has_own_slot() || op.part_group() != nullptr;
  if (comm.state == ShmComm::State::kNew && counted) op.comm()->begin_forming();
  Gate gate;
  Status st;
  TurnWait turn(ticket);
  st = co_await turn;
  if (!st.ok()) {
    ticket.abandon();
    co_return st;
  }
  if (comm.state == ShmComm::State::kNew) {
    const Co attaching = attach(op, comm);
    op.join(attaching, gate);
    st = co_await gate;
    if (!st.ok()) {
      ticket.end_turn();
      co_return st;
    }
    if (counted) op.comm()->formed();
  }
  if (comm.state == ShmComm::State::kRefused) {
    ticket.end_turn();
    const Co other = instead(op, call, op.component());
    op.join(other, gate);
    st = co_await gate;
    co_return st;
  }
  SlotWait slot(ticket);
  st = co_await slot;
  if (slot.failed()) co_return st;
  ticket.record_call();
  if (proves) {
    const Co proving = prove(op, comm, ticket);
    op.join(proving, gate);
    st = co_await gate;
    if (!st.ok()) co_return st;
    ++ticket.number;
  }
  if (need == Need::SingleCopy::kAlways && comm.single_copy == ShmComm::SingleCopy::kRefused) {
    const Co other = leave_to_others(op, call, ticket, kReaches);
    op.join(other, gate);
    st = co_await gate;
    co_return st;
  }
  const Co inner = body(op, call, ticket);
  op.join(inner, gate);
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::shm
