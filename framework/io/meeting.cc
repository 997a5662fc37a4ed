#include "framework/io/together.h"

namespace ashlar::io {
namespace {

bool holds(coll::Condition& self) { return static_cast<Meeting&>(self).seen(); }

/// Before the last look of a process that may sleep: from here on it is woken.
void announce(coll::Condition& self) {
  auto& meeting = static_cast<Meeting&>(self);
  if (meeting.announced || meeting.access->file().shared == nullptr) return;
  meeting.announced = true;
  meeting.access->own().asleep.fetch_add(1, std::memory_order_seq_cst);
  meeting.access->file().shared->sleepers.fetch_add(1, std::memory_order_seq_cst);
}

std::atomic<std::uint64_t>& step(RankSlot& slot, Meeting::Until until) {
  switch (until) {
    case Meeting::Until::kArrived:
      return slot.arrived;
    case Meeting::Until::kReady:
      return slot.ready;
    case Meeting::Until::kMapped:
      return slot.mapped;
    case Meeting::Until::kWritten:
      return slot.written;
    default:
      return slot.over;
  }
}

}  // namespace

Meeting::Meeting(const Together& of, Until what) : access(&of), until(what) {
  coll::Condition::holds = io::holds;
  before_sleep = announce;
  wanted = of.number;
}

Meeting::Meeting(const Together& of, Until what, Rank which, std::uint64_t value) : Meeting(of, what) {
  rank = which;
  wanted = value;
}

Meeting Meeting::lower(const Together& of, std::uint64_t round, std::uint32_t index) {
  Meeting meeting(of, Until::kLower, of.aggregator(index), round);
  meeting.visits = of.visitors(of.window_begin(round, index), of.file().comm->rank);
  return meeting;
}

bool Meeting::seen() {
  const Together& of = *access;
  switch (until) {
    case Until::kTurn:
      return of.file().together_over + 1 == of.number;
    case Until::kTurned:
      return of.slot(rank).turned.load(std::memory_order_acquire) > wanted;
    case Until::kLower:
      return of.slot(rank).visits[wanted % 2].load(std::memory_order_acquire) >= visits;
    case Until::kVisited:
      return of.own().visits[wanted % 2].load(std::memory_order_acquire) >= of.expected[wanted % 2];
    default:
      break;
  }
  for (; rank < of.file().comm->size; ++rank)
    if (step(of.slot(rank), until).load(std::memory_order_acquire) < wanted) return false;
  return true;
}

void Meeting::over(Status) {
  if (!announced) return;
  access->file().shared->sleepers.fetch_sub(1, std::memory_order_relaxed);
  access->own().asleep.fetch_sub(1, std::memory_order_relaxed);
  announced = false;
}

// The fence orders the store before this call against the looks of a process that announces its sleep.
void wake(const Together& access, coll::Wire& wire) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  SharedBlock& block = *access.file().shared;
  if (block.sleepers.load(std::memory_order_relaxed) == 0) return;
  for (Rank rank = 0; rank < access.file().comm->size; ++rank)
    if (rank != access.file().comm->rank && block.slot(rank).asleep.load(std::memory_order_relaxed) != 0)
      wire.wake(rank);
}

}  // namespace ashlar::io
