#include <atomic>

#include "components/rma/shm/lock_waits.h"
#include "components/rma/shm/state.h"
#include "framework/base/process_barrier.h"

// A reader-writer lock for each target, by tickets (Mellor-Crummey and Scott 1991, "Scalable Reader-Writer
// Synchronization", section 2): first come, first served, one atomic instruction where it is free. An epoch to all
// targets (lock_all) takes none of these locks: it counts itself in one word, and an exclusive locker, which counts the
// lock in another, waits until no such epoch is open. Each stores its word before it reads the other's, with
// instructions that are fences, so at least one of two sees the other; it is the epoch to all that then steps back.
//
// A process that holds a lock already shares further ones as a guest, without a ticket, whenever no writer is inside:
// in a queue it could wait for a writer that waits for the very lock it holds, while another process waits for it the
// same way. A writer whose turn has come waits outside until there are no guests; of a guest and a writer that come at
// the same time at least one sees the other, as above.
//
// Readers that follow each other without a writer turn the lock's bias on (Dice and Kogan 2019, "BRAVO"): from then on
// a reader stores the target in a line of its own and moves no line of the others. The next writer turns the bias off,
// and waits for those readers. Again of two that come at the same time one sees the other, and the reader steps back;
// here it is the writer, the rare one, that fences both.
//
// Writers leave a lock as they found it: counted in the header, so that the next writer, most often the same process,
// takes it by instructions on the lock's line alone. It is the epoch to all that takes such a lock out of the count;
// and a writer does so itself when epochs to all or guests wait, for which there would be no moment otherwise.
//
// A writer leaves the lock open, to itself or to the first that comes, and keeps its ticket: the same process takes it
// again by one atomic instruction, any other closes it on behalf of the writer and is served next. Where others queue
// the first of them does so: a lock that its last holder takes again moves no line, one that changes hands moves two.
// Past a queue a writer may come back a bounded number of times (LockLimits::again), then it hands over; at once where
// others sleep, which have waited long.
namespace ashlar::rma::shm {
namespace {

constexpr int kLooksForOthers = 2000;  // how long a writer lets epochs to all and guests go first

/// Target::lock_form.
enum Form : std::uint8_t {
  kByTicket,
  kAsGuest,
  kByLine,   // RankLine::sharing
  kLeftOpen  // not held, unless another process has closed it: this one may take it again by the ticket that it had
};

}  // namespace

/// Whether epochs to all, or guests, wait for a moment without a writer.
inline bool SharedSync::others_wait(const LockLine& line) const {
  return (control_.header().lock_alls_waiting.load(std::memory_order_relaxed) |
          line.guests_waiting.load(std::memory_order_relaxed)) != 0;
}

/// Until only guests and epochs to all may be inside.
Status SharedSync::wait_for_turn(LockLine& line, Rank target, std::uint32_t ticket) {
  if (line.writers.load(std::memory_order_acquire) != ticket) {
    TicketTurn turn(window_, control_, target, line.writers, ticket);
    ASHLAR_TRY(wait(window_, turn));
  }
  // Others that wait would starve beside a stream of exclusive locks, so they go first; not for ever, because it may be
  // that the holder of another lock needs this one.
  for (int look = 0; look < kLooksForOthers && others_wait(line); ++look) continue;
  if (line.shared_in_row.load(std::memory_order_relaxed) == 0) return {};
  const bool was_biased = is_biased(line.shared_in_row.exchange(0, std::memory_order_seq_cst));
  fence_after_atomic();
  if (!was_biased) return {};
  fence_others(control_);
  NoSharers alone(window_, control_, target);
  return wait(window_, alone);
}

/// Says that this writer is inside. Whether the lock was counted as exclusive before.
inline bool SharedSync::claim(LockLine& line) {
  std::uint32_t left = LockLine::kLeft;
  if (line.holder.compare_exchange_strong(left, as_holder(), std::memory_order_seq_cst, std::memory_order_relaxed))
    return true;
  line.holder.store(as_holder(), std::memory_order_relaxed);
  control_.header().exclusive.fetch_add(1, std::memory_order_seq_cst);
  return false;
}

/// Takes the lock again that this process has left open, if no other has closed it.
inline bool SharedSync::take_again(LockLine& line) {
  const std::uint32_t holder = as_holder();
  std::uint32_t left = LockLine::kLeft | holder;
  return line.holder.compare_exchange_strong(left, holder, std::memory_order_seq_cst, std::memory_order_relaxed);
}

/// Whether others queue behind the writer that is inside.
inline bool SharedSync::others_queue(const LockLine& line) {
  return line.tickets.load(std::memory_order_relaxed) != line.writers.load(std::memory_order_relaxed) + 1;
}

/// Of a writer that has taken the lock again: past a queue, or beside guests.
Status SharedSync::held_again(LockLine& line, const Target& target) {
  if (others_queue(line)) {
    line.again.store(static_cast<std::uint16_t>(line.again.load(std::memory_order_relaxed) + 1),
                     std::memory_order_relaxed);
    line.comes_back.store(1, std::memory_order_relaxed);
  }
  bool counted = true;
  ASHLAR_TRY(let_guests_go(line, target.rank, &counted));
  return counted ? Status() : wait_for_lock_alls();
}

/// Of a writer that has found guests inside. It waits outside: one of them may need another guest to come in before it
/// can go.
Status SharedSync::let_guests_go(LockLine& line, Rank target, bool* counted) {
  while (line.guests.load(std::memory_order_acquire) != 0) {
    line.holder.store(LockLine::kLeft, std::memory_order_release);
    wake_sleepers(window_, control_, Sleep::kLock, target);
    NoGuests alone(window_, control_, target);
    ASHLAR_TRY(wait(window_, alone));
    *counted = claim(line);
    fence_after_atomic();
  }
  return {};
}

Status SharedSync::lock_exclusive(LockLine& line, Target& target) {
  target.lock_form = kByTicket;
  const std::uint32_t ticket = line.tickets.fetch_add(1, std::memory_order_acq_rel);
  if (line.writers.load(std::memory_order_acquire) != ticket || others_wait(line) ||
      line.shared_in_row.load(std::memory_order_relaxed) != 0) [[unlikely]]
    ASHLAR_TRY(wait_for_turn(line, target.rank, ticket));
  bool counted = claim(line);
  fence_after_atomic();
  if (line.guests.load(std::memory_order_acquire) != 0) [[unlikely]]
    ASHLAR_TRY(let_guests_go(line, target.rank, &counted));
  if (counted || control_.header().lock_alls.load(std::memory_order_acquire) == 0) [[likely]]
    return {};
  return wait_for_lock_alls();
}

Status SharedSync::wait_for_lock_alls() {
  NoLockAll alone(window_, control_);
  return wait(window_, alone);
}

/// Of a writer past which others queue: whether it may come back once more.
bool SharedSync::may_come_back(LockLine& line) const {
  if (line.again.load(std::memory_order_relaxed) < limits().again && line.sleepers.load(std::memory_order_relaxed) == 0)
    return true;
  line.again.store(0, std::memory_order_relaxed);
  return false;
}

Status SharedSync::wake_behind_writer(const Target& target) {
  wake_sleepers(window_, control_, Sleep::kLock, target.rank);
  wake_sleepers(window_, control_, Sleep::kLockAll);
  return {};
}

/// The next ticket is served.
Status SharedSync::hand_over(LockLine& line, Target& target) {
  const bool leaves = !others_wait(line);
  target.lock_form = kByTicket;
  line.holder.store(leaves ? LockLine::kLeft : 0, std::memory_order_release);
  line.serve_next();
  if (!leaves) control_.header().exclusive.fetch_sub(1, std::memory_order_seq_cst);
  return wake_behind_writer(target);
}

/// To itself, or to the first that comes.
inline Status SharedSync::leave_open(LockLine& line, Target& target) {
  const ControlHeader& header = control_.header();  // in a register, behind the store as well
  target.lock_form = kLeftOpen;
  line.holder.store(LockLine::kLeft | as_holder(), std::memory_order_release);
  order_with_others(header);
  if ((line.sleepers.load(std::memory_order_relaxed) |
       header.sleepers_for(Sleep::kLockAll).load(std::memory_order_relaxed)) != 0) [[unlikely]]
    return wake_behind_writer(target);
  return {};
}

/// While others queue, or epochs to all or guests wait.
Status SharedSync::unlock_beside_others(LockLine& line, Target& target) {
  return others_wait(line) || !may_come_back(line) ? hand_over(line, target) : leave_open(line, target);
}

/// Without a ticket and without a store to a line of the others, while the bias is on. The writer that turns it off
/// fences this process, where it can.
inline bool SharedSync::share_by_line(const LockLine& line, Target& target) {
  const ControlHeader& header = control_.header();
  const std::uint32_t bias_after = header.limits.bias_after;
  if (line.shared_in_row.load(std::memory_order_relaxed) < bias_after) return false;
  target.lock_form = kByLine;
  control_.rank(window_.me).sharing.store(static_cast<std::uint32_t>(target.rank) + 1, std::memory_order_relaxed);
  order_with_others(header);
  return line.shared_in_row.load(std::memory_order_acquire) >= bias_after;
}

Status SharedSync::lock_shared(LockLine& line, Target& target) {
  std::atomic<std::uint32_t>& sharing = control_.rank(window_.me).sharing;
  if (sharing.load(std::memory_order_relaxed) != 0) {  // the bias has gone meanwhile
    sharing.store(0, std::memory_order_release);
    wake_sleepers(window_, control_, Sleep::kLock, target.rank);
  }
  target.lock_form = kByTicket;
  const std::uint32_t ticket = line.tickets.fetch_add(1, std::memory_order_acq_rel);
  if (line.readers.load(std::memory_order_acquire) != ticket) {
    TicketTurn turn(window_, control_, target.rank, line.readers, ticket);
    ASHLAR_TRY(wait(window_, turn));
  }
  line.readers.store(ticket + 1, std::memory_order_release);
  if (line.tickets.load(std::memory_order_relaxed) != ticket + 1)
    wake_sleepers(window_, control_, Sleep::kLock, target.rank);
  // No writer is inside before this process leaves, and the next one sees the bias. The count never falls while there
  // are readers: a bias that was taken back would hide those that have used it.
  if (limits().bias_after != LockLimits::kNever) line.shared_in_row.fetch_add(1, std::memory_order_release);
  return {};
}

Status SharedSync::lock_as_guest(LockLine& line, Target& target) {
  target.lock_form = kAsGuest;
  for (;;) {
    line.guests.fetch_add(1, std::memory_order_seq_cst);
    fence_after_atomic();
    if (LockLine::inside(line.holder.load(std::memory_order_acquire)) < 0) return {};
    line.guests.fetch_sub(1, std::memory_order_seq_cst);
    wake_sleepers(window_, control_, Sleep::kLock, target.rank);
    line.guests_waiting.fetch_add(1, std::memory_order_relaxed);
    NoWriterInside free(window_, control_, target.rank);
    const Status waited = wait(window_, free);
    line.guests_waiting.fetch_sub(1, std::memory_order_relaxed);
    ASHLAR_TRY(waited);
  }
}

Status SharedSync::lock(Target& target, bool exclusive) {
  LockLine& line = control_.lock(target.rank);
  if (!exclusive) {
    if (window_.epochs.locks > 1) return lock_as_guest(line, target);
    return share_by_line(line, target) ? Status() : lock_shared(line, target);
  }
  if (target.lock_form != kLeftOpen || !take_again(line)) return lock_exclusive(line, target);
  fence_after_atomic();
  if (others_queue(line) || line.guests.load(std::memory_order_acquire) != 0) [[unlikely]]
    return held_again(line, target);
  return {};
}

Status SharedSync::unlock_shared(LockLine& line, const Target& target) {
  if (target.lock_form == kAsGuest)
    line.guests.fetch_sub(1, std::memory_order_seq_cst);
  else
    line.writers.fetch_add(1, std::memory_order_acq_rel);
  return wake_behind_reader(target);
}

Status SharedSync::wake_behind_reader(const Target& target) {
  wake_sleepers(window_, control_, Sleep::kLock, target.rank);
  return {};
}

Status SharedSync::unlock(Target& target, bool exclusive) {
  LockLine& line = control_.lock(target.rank);
  if (!exclusive) {
    if (target.lock_form != kByLine) return unlock_shared(line, target);
    const ControlHeader& header = control_.header();
    control_.rank(window_.me).sharing.store(0, std::memory_order_release);
    order_with_others(header);
    if (line.sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      return wake_behind_reader(target);
    return {};
  }
  if (others_wait(line) || others_queue(line)) [[unlikely]]
    return unlock_beside_others(line, target);
  return leave_open(line, target);
}

Status SharedSync::lock_all() {
  ControlHeader& header = control_.header();
  for (;;) {
    header.lock_alls.fetch_add(1, std::memory_order_seq_cst);
    fence_after_atomic();
    if (no_writers(window_, control_)) [[likely]]
      return {};
    header.lock_alls.fetch_sub(1, std::memory_order_seq_cst);
    wake_sleepers(window_, control_, Sleep::kLockAll);
    header.lock_alls_waiting.fetch_add(1, std::memory_order_relaxed);
    NoWriters none(window_, control_);
    const Status waited = wait(window_, none);
    header.lock_alls_waiting.fetch_sub(1, std::memory_order_relaxed);
    ASHLAR_TRY(waited);
  }
}

Status SharedSync::unlock_all() {
  control_.header().lock_alls.fetch_sub(1, std::memory_order_seq_cst);
  wake_sleepers(window_, control_, Sleep::kLockAll);
  return {};
}

}  // namespace ashlar::rma::shm
