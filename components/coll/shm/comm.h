#pragma once
#include <cstdint>

#include "components/coll/shm/choices.h"
#include "components/coll/shm/segment/mapping.h"
#include "components/coll/shm/segment/ticket.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/op.h"

namespace ashlar::coll::shm {

/// What a collective needs of the segment.
struct Need {
  /// Whether ranks copy from and to each other's memory: never; where all have proved that they can; always.
  enum class SingleCopy : std::uint8_t { kNever, kWhereProved, kAlways };

  Payloads payloads{};
  std::uint64_t numbers = 1;  // sequence numbers, one behind the other
  SingleCopy single_copy = SingleCopy::kNever;
};

/// This component's state of one communicator, of the ranks of a node in one on several nodes (coll::PartGroup), or of
/// one persistent operation, whose starts need not come in the same order on every rank. Owned by its slot
/// (coll::Slot). Guarded by the lane's lock.
class ShmComm {
 public:
  enum class State : std::uint8_t { kNew, kAttached, kRefused };
  enum class SingleCopy : std::uint8_t { kUntried, kProved, kRefused };

  /// Of op's communicator, or of its persistent operation, made when missing. nullptr: no memory, noted as op's
  /// failure.
  static ShmComm* of(Op& op) {
    Slot& slot = op.slot();
    return slot.data != nullptr ? static_cast<ShmComm*>(slot.data) : make(op, slot);
  }
  ShmComm(Wire& wire, Rank me) : member(wire, me) {}

  /// Whether nothing is missing for the ticket to begin.
  bool ready(const Ticket& ticket, Need::SingleCopy need) const {
    return ticket.is_turn() && state == State::kAttached && ticket.slot_free() &&
           (need == Need::SingleCopy::kNever || single_copy == SingleCopy::kProved ||
            (need == Need::SingleCopy::kWhereProved && single_copy == SingleCopy::kRefused));
  }

  Member member;
  SegmentMapping mapping;
  Choices choices;
  State state = State::kNew;
  SingleCopy single_copy = SingleCopy::kUntried;
  bool proof_has_number = false;  // a collective that was called has taken the proof's number before its own
  bool edges_fit = false;         // every rank's table of edges fits into its buffer; known with the proof
  std::uint64_t probe = 0;        // what other ranks read and write to prove single copies
  /// Of the two collectives called last (Choices::yield_to_root).
  struct Rooted {
    Rank root = -1;           // -1: none
    bool root_first = false;  // ranks wait for the root; else the root waits for them
  };
  Rooted latest, before;

 private:
  static ShmComm* make(Op& op, Slot& slot);
};

/// One algorithm, from where its ticket is ready. It ends its ticket by done(), or, when a wait has failed, returns:
/// the wait has ended it.
using Body = Co (*)(Op& op, const Call& call, Ticket ticket);

/// Waits for what ready() found missing: for the turn; makes the segment (the first time; all members take part); waits
/// for the slot; has the ranks prove single copies, if `proves`, with the ticket's first number; then runs `body`.
/// Where the members cannot all attach, or not copy, all of them learn that, and another algorithm serves the call.
Co begin_late(Op& op, const Call& call, Ticket ticket, Need::SingleCopy need, bool proves, Body body);

/// Ends the ticket and has an algorithm without the trait `missing` serve the call: all members know that theirs with
/// it cannot.
Co leave_to_others(Op& op, const Call& call, Ticket ticket, Trait missing);

/// For Choices::yield_to_root. On the communicator's state, for persistent operations as well.
void note_root(const Op& op, const Call& call);

/// Algorithm::counts_to.
template <Need (*need_of)(const Op&, const Call&)>
std::uint64_t counts_to(Op& op, const Call& call, std::uint64_t from) {
  const ShmComm* const comm = ShmComm::of(op);
  if (comm == nullptr) return from;
  const Need need = need_of(op, call);
  const bool proves = need.single_copy != Need::SingleCopy::kNever && !comm->proof_has_number;
  return (from != 0 ? from : comm->member.next_number) + need.numbers + (proves ? 1 : 0);
}

/// From the ticket on, which belongs to `call` or to what that is a part of.
[[gnu::always_inline]] inline Co begin(Op& op, const Call& call, ShmComm& comm, const Ticket& ticket,
                                       Need::SingleCopy need, bool proves, Body body) {
  if (comm.choices.yield_to_root) note_root(op, call);
  if (comm.ready(ticket, need)) [[likely]] {
    ticket.record_call();
    return body(op, call, ticket);
  }
  return begin_late(op, call, ticket, need, proves, body);
}

/// The same, with the ticket, for a persistent operation or a part: on a slot of its own, which the communicator does
/// not count.
Co enter_own(Op& op, const Call& call, ShmComm& comm, const Need& need, bool proves, Body body);

/// What is registered of an algorithm. It is no coroutine itself, so what all algorithms begin with costs no frame
/// where nothing is missing.
template <Body body, Need (*need_of)(const Op&, const Call&)>
Co enter(Op& op, const Call& call) {
  const Need need = need_of(op, call);
  ShmComm* const comm = ShmComm::of(op);
  if (comm == nullptr) [[unlikely]]
    return Co();  // noted as op's failure
  const bool proves = need.single_copy != Need::SingleCopy::kNever && !comm->proof_has_number;
  if (proves) comm->proof_has_number = true;
  if (op.has_own_slot()) [[unlikely]]
    return enter_own(op, call, *comm, need, proves, body);
  const Ticket ticket = Ticket::take(comm->member, call, need.payloads, need.numbers + (proves ? 1 : 0));
  op.comm()->count_to(comm->member.next_number);
  return begin(op, call, *comm, ticket, need.single_copy, proves, body);
}

}  // namespace ashlar::coll::shm
