#include <atomic>
#include <cstdio>

#include "components/rma/shm/state.h"

// A reader-writer lock for each target, by tickets (Mellor-Crummey and Scott 1991, "Scalable Reader-Writer
// Synchronization", section 2): first come, first served, one atomic instruction where it is free. An epoch to all
// targets (lock_all) takes none of these locks: it counts itself in one word, and an exclusive locker, which counts
// itself in another, waits until no such epoch is open. Each stores its word before it reads the other's, with
// instructions that are fences, so at least one of two sees the other; it is the epoch to all that then steps back.
//
// A process that holds a lock already shares further ones as a guest, without a ticket, whenever no writer is inside:
// in a queue it could wait for a writer that waits for the very lock it holds, while another process waits for it the
// same way. A writer whose turn has come waits for the guests; of a guest and a writer that come at the same time one
// sees the other, as above, and the guest steps back.
namespace ashlar::rma::shm {
namespace {

constexpr int kLooksForLockAlls = 2000;  // how long a writer lets epochs to all go first

/// Until a ticket is served.
class LockWait final : public SharedCondition {
 public:
  LockWait(RmaWindow& of, const Control& block, Rank target, std::atomic<std::uint32_t>& word, std::uint32_t ticket)
      : SharedCondition(of, block, Sleep::kLock, target), target_(target), word_(word), ticket_(ticket) {}
  bool holds() override { return word_.load(std::memory_order_acquire) == ticket_; }
  Rank awaited() const override { return holder(); }
  void describe(char* out, std::size_t room) const override {
    const Rank by = holder();
    if (by >= 0)
      std::snprintf(out, room, "for the lock of rank %d, which rank %d holds exclusively,", target_, by);
    else
      std::snprintf(out, room, "for the lock of rank %d, which other ranks hold or wait for,", target_);
  }

 private:
  Rank holder() const { return static_cast<Rank>(control.lock(target_).holder.load(std::memory_order_relaxed)) - 1; }
  const Rank target_;
  std::atomic<std::uint32_t>& word_;
  const std::uint32_t ticket_;
};

/// Until no guest holds the lock, or no writer does.
class LockFree final : public SharedCondition {
 public:
  LockFree(RmaWindow& of, const Control& block, Rank target, const std::atomic<std::uint32_t>& word, const char* who)
      : SharedCondition(of, block, Sleep::kLock, target), target_(target), word_(word), who_(who) {}
  bool holds() override { return word_.load(std::memory_order_seq_cst) == 0; }
  Rank awaited() const override { return -1; }
  void describe(char* out, std::size_t room) const override {
    std::snprintf(out, room, "for the lock of rank %d, which %s", target_, who_);
  }

 private:
  const Rank target_;
  const std::atomic<std::uint32_t>& word_;
  const char* const who_;
};

/// Until a count of the header is zero.
class NoneLeft final : public SharedCondition {
 public:
  NoneLeft(RmaWindow& of, const Control& block, std::atomic<std::uint32_t>& count, const char* what)
      : SharedCondition(of, block, Sleep::kLockAll), count_(count), what_(what) {}
  bool holds() override { return count_.load(std::memory_order_seq_cst) == 0; }
  Rank awaited() const override { return -1; }
  void describe(char* out, std::size_t room) const override { std::snprintf(out, room, "%s", what_); }

 private:
  std::atomic<std::uint32_t>& count_;
  const char* const what_;
};

}  // namespace

/// Processes that wait for an epoch to all would starve beside a stream of exclusive locks, so a new one lets them go
/// first; not for ever, because it may be that the holder of another lock needs this one.
void SharedSync::let_lock_alls_in() {
  for (int look = 0; look < kLooksForLockAlls; ++look)
    if (control_.header().lock_alls_waiting.load(std::memory_order_relaxed) == 0) return;
}

Status SharedSync::lock_exclusive(LockLine& line, Rank target, std::uint32_t ticket) {
  if (line.writers.load(std::memory_order_acquire) != ticket) {
    LockWait turn(window_, control_, target, line.writers, ticket);
    ASHLAR_TRY(wait(window_, turn));
  }
  line.holder.store(static_cast<std::uint32_t>(window_.me) + 1, std::memory_order_seq_cst);
  if (line.guests.load(std::memory_order_seq_cst) != 0) {
    LockFree alone(window_, control_, target, line.guests, "other ranks share,");
    ASHLAR_TRY(wait(window_, alone));
  }
  ControlHeader& header = control_.header();
  if (header.lock_alls_waiting.load(std::memory_order_relaxed) != 0) let_lock_alls_in();
  header.exclusive.fetch_add(1, std::memory_order_seq_cst);
  if (header.lock_alls.load(std::memory_order_seq_cst) == 0) [[likely]]
    return {};
  NoneLeft alone(window_, control_, header.lock_alls, "until no epoch of MPI_Win_lock_all is open,");
  return wait(window_, alone);
}

Status SharedSync::lock_shared(LockLine& line, Rank target, std::uint32_t ticket) {
  if (line.readers.load(std::memory_order_acquire) != ticket) {
    LockWait turn(window_, control_, target, line.readers, ticket);
    ASHLAR_TRY(wait(window_, turn));
  }
  line.readers.store(ticket + 1, std::memory_order_release);
  if (line.tickets.load(std::memory_order_relaxed) != ticket + 1)
    wake_sleepers(window_, control_, Sleep::kLock, target);
  return {};
}

Status SharedSync::lock_as_guest(LockLine& line, Rank target) {
  state_.guest[static_cast<std::size_t>(target)] = 1;
  for (;;) {
    line.guests.fetch_add(1, std::memory_order_seq_cst);
    if (line.holder.load(std::memory_order_seq_cst) == 0) return {};
    line.guests.fetch_sub(1, std::memory_order_seq_cst);
    wake_sleepers(window_, control_, Sleep::kLock, target);
    LockFree free(window_, control_, target, line.holder, "another rank holds exclusively,");
    ASHLAR_TRY(wait(window_, free));
  }
}

Status SharedSync::lock(Target& target, bool exclusive) {
  LockLine& line = control_.lock(target.rank);
  if (!exclusive && window_.epochs.locks > 1) return lock_as_guest(line, target.rank);
  const std::uint32_t ticket = line.tickets.fetch_add(1, std::memory_order_acq_rel);
  return exclusive ? lock_exclusive(line, target.rank, ticket) : lock_shared(line, target.rank, ticket);
}

Status SharedSync::unlock(Target& target, bool exclusive) {
  LockLine& line = control_.lock(target.rank);
  ControlHeader& header = control_.header();
  if (exclusive) {
    header.exclusive.fetch_sub(1, std::memory_order_seq_cst);
    const std::uint32_t next = line.writers.load(std::memory_order_relaxed) + 1;
    line.holder.store(0, std::memory_order_relaxed);
    line.readers.store(next, std::memory_order_release);
    line.writers.store(next, std::memory_order_release);
  } else if (state_.guest[static_cast<std::size_t>(target.rank)] != 0) {
    state_.guest[static_cast<std::size_t>(target.rank)] = 0;
    line.guests.fetch_sub(1, std::memory_order_seq_cst);
  } else {
    line.writers.fetch_add(1, std::memory_order_acq_rel);
  }
  wake_sleepers(window_, control_, Sleep::kLock, target.rank);
  if (exclusive) wake_sleepers(window_, control_, Sleep::kLockAll);
  return {};
}

Status SharedSync::lock_all() {
  ControlHeader& header = control_.header();
  for (;;) {
    header.lock_alls.fetch_add(1, std::memory_order_seq_cst);
    if (header.exclusive.load(std::memory_order_seq_cst) == 0) [[likely]]
      return {};
    header.lock_alls.fetch_sub(1, std::memory_order_seq_cst);
    wake_sleepers(window_, control_, Sleep::kLockAll);
    header.lock_alls_waiting.fetch_add(1, std::memory_order_relaxed);
    NoneLeft none(window_, control_, header.exclusive, "until no rank of the window is locked exclusively,");
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
