#pragma once
#include <cstdint>

#include "components/coll/shm/segment.h"
#include "framework/coll/call.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/op.h"

namespace ashlar::coll::shm {

/// This component's state of one communicator. Collectives on its segment take turns: a rank begins number s only when
/// its own number s - 1 is over, so several nonblocking ones may be outstanding. Guarded by the lane's lock.
class Group {
 public:
  enum class State : std::uint8_t { kNew, kAttached, kRefused };
  /// Whether the ranks may copy from and to each other's memory: tried before it is first relied upon.
  enum class Reach : std::uint8_t { kUntried, kProved, kRefused };
  /// Of a collective with a root: whether it goes first, or last.
  struct Order {
    Rank root = -1;
    bool first = false;
  };

  /// The group of op's communicator, or of a persistent operation itself, made when missing. nullptr: no memory, noted
  /// as op's failure.
  static Group* of(Op& op) {
    Slot& slot = op.slot();
    return slot.data != nullptr ? static_cast<Group*>(slot.data) : make(op, slot);
  }
  /// Whether every rank is done with number - ahead, so that places of `number` may be written.
  bool slot_free(std::uint64_t number, std::uint64_t ahead) {
    return all_done + ahead >= number || look_who_is_done(number, ahead);
  }

  State state = State::kNew;
  bool flat = false;
  bool proof_called = false;  // a collective that was called has the number of the proof
  Reach reach = Reach::kUntried;
  bool edges_fit = false;    // every rank's edges fit into its place; known with the proof
  std::uint32_t movers = 0;  // ranks that copy at a time; 0: all
  Segment segment;
  std::uint64_t next_number = 1;  // for the next collective that is called
  std::uint64_t turn = 1;         // the number whose turn it is on this rank
  std::uint64_t all_done = 0;     // every rank is known to be done with this number
  std::uint64_t probe = 0;        // what others try to read
  Order latest, before;           // of the two collectives that were called last

 private:
  static Group* make(Op& op, Slot& slot);
  bool look_who_is_done(std::uint64_t number, std::uint64_t ahead);
};

/// Whether a payload travels inside a line.
inline bool is_inline(MPI_Count bytes) { return bytes <= static_cast<MPI_Count>(kInline); }

/// What a collective needs of the segment.
struct Stay {
  /// Whether ranks copy from and to each other's memory: not at all; where they can; always.
  enum class Reach : std::uint8_t { kNone, kTried, kNeeded };

  MPI_Count bytes = 0;        // of the largest payload
  std::uint64_t numbers = 1;  // that it takes, one behind the other
  Reach reach = Reach::kNone;
};

/// What tells calls apart that should agree: which collective, its root, the bytes. Never 0 in all its bits, and in its
/// place above the number.
inline std::uint64_t mark_of(Collective what, Rank root, MPI_Count bytes) {
  const std::uint64_t call = static_cast<std::uint64_t>(bytes) ^ static_cast<std::uint64_t>(what) << 56 ^
                             static_cast<std::uint64_t>(static_cast<std::uint32_t>(root)) << 40;
  return ((call ^ call >> 29) * 0x9e3779b97f4a7c15u & ~kNumberMask) | std::uint64_t{1} << kNumberBits;
}

/// One collective's stay in the segment. Trivial: it lives in a coroutine.
struct Visit {
  Group* group;
  const Call* call;
  std::uint64_t number;  // the one it is at
  std::uint64_t first;   // of this collective
  std::uint64_t last;    // the last one of this collective
  std::uint64_t ahead;   // how far ranks may run ahead of each other, for this payload
  std::uint64_t mark;    // of the call
  Stay::Reach reach;
  bool proves;  // the first number is that of the proof

  static Visit begin(Op& op, const Call& call, const Stay& stay) {
    Group* const group = Group::of(op);
    if (group == nullptr) return Visit{nullptr, nullptr, 0, 0, 0, 0, 0, Stay::Reach::kNone, false};
    const bool proves = stay.reach != Stay::Reach::kNone && !group->proof_called;
    if (proves) group->proof_called = true;
    const std::uint64_t first = group->next_number;
    group->next_number += stay.numbers + (proves ? 1 : 0);
    if (!op.has_own_slot()) op.comm()->count_to(group->next_number);
    return Visit{group,
                 &call,
                 first,
                 first,
                 group->next_number - 1,
                 is_inline(stay.bytes) ? kSlots : kLargeSlots,
                 mark_of(call.what, call.root, call.bytes),
                 stay.reach,
                 proves};
  }
  /// What lines of this visit carry.
  std::uint64_t word() const { return number | mark; }
  /// The same of a block whose size need not be that of the others'.
  std::uint64_t word_of_block(MPI_Count bytes) const { return number | mark_of(call->what, call->root, bytes); }
  /// Whether everything is in place: attached, our turn, and the slot free.
  bool ready() const {
    return group->turn == number && group->state == Group::State::kAttached && group->slot_free(number, ahead) &&
           (reach == Stay::Reach::kNone || group->reach == Group::Reach::kProved ||
            (reach == Stay::Reach::kTried && group->reach == Group::Reach::kRefused));
  }
  /// Tells what this rank called. Before the first line of the visit is written.
  void note(Rank me) const {
    CallNote& mine = layout().note(number, static_cast<std::uint32_t>(me));
    const std::uint64_t more = last - number < 0xffff ? last - number : 0xffff;
    mine.root_bytes.store(
        static_cast<std::uint64_t>(call->root) << kNumberBits | (static_cast<std::uint64_t>(call->bytes) & kNumberMask),
        std::memory_order_relaxed);
    mine.number_what.store(number << 24 | more << 8 | static_cast<std::uint64_t>(call->what),
                           std::memory_order_release);
  }
  /// The next collective's turn.
  void leave() const { group->turn = last + 1; }

  const Layout& layout() const { return group->segment.layout(); }
};

/// An algorithm of this component, from where its turn has come. It ends its visit by done() (payload.h), or, when a
/// wait has failed, not at all: the wait has left.
using Body = Co (*)(Op& op, const Call& call, Visit visit);

/// What ready() found missing: waits for the turn, makes the segment (the first time; all members take part), waits for
/// the slot, and proves that the ranks reach each other's memory (the first time); then `body`. Where the members
/// cannot all attach, or not reach each other, they agree on that, and `call` is served by another algorithm.
Co late(Op& op, const Call& call, Visit visit, Body body);

/// Notes who waits for whom: the others for the root where data begins there, the root for them where it ends there. On
/// the communicator's group, for persistent operations as well.
inline void note_order(const Op& op, const Call& call) {
  auto* const group = static_cast<Group*>(op.comm()->slots[op.component() % CommState::kSlots].data);
  if (group == nullptr) return;
  group->before = group->latest;
  switch (call.what) {
    case Collective::kBcast:
    case Collective::kScatter:
    case Collective::kScatterv:
      group->latest = {call.root, true};
      return;
    case Collective::kReduce:
    case Collective::kGather:
    case Collective::kGatherv:
      group->latest = {call.root, false};
      return;
    default:
      group->latest = {};
  }
}

/// What is registered of an algorithm: a function that is no coroutine itself, so that what all of them begin with
/// costs no frame where nothing is missing.
template <Body body, Stay (*stay)(const Op&, const Call&)>
Co enter(Op& op, const Call& call) {
  const Visit visit = Visit::begin(op, call, stay(op, call));
  if (visit.group == nullptr) [[unlikely]]
    return Co();  // noted as op's failure
  note_order(op, call);
  if (visit.ready()) [[likely]] {
    visit.note(op.rank());
    return body(op, call, visit);
  }
  return late(op, call, visit, body);
}

}  // namespace ashlar::coll::shm
