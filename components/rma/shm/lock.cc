#include <atomic>
#include <cstdio>

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
// same way. A writer whose turn has come waits for the guests; of a guest and a writer that come at the same time one
// sees the other, as above, and the guest steps back.
//
// Writers leave a lock as they found it: counted in the header, so that the next writer, most often the same process,
// takes it by instructions on the lock's line alone. It is the epoch to all that takes such a lock out of the count;
// and a writer does so itself when epochs to all or guests wait, for which there would be no moment otherwise.
namespace ashlar::rma::shm {
namespace {

constexpr int kLooksForOthers = 2000;  // how long a writer lets epochs to all and guests go first

/// Until a ticket is served.
class LockWait final : public SharedCondition {
 public:
  LockWait(RmaWindow& of, const Control& block, Rank target, std::atomic<std::uint32_t>& word, std::uint32_t ticket)
      : SharedCondition(of, block, "MPI_Win_lock", Sleep::kLock, target),
        target_(target),
        word_(word),
        ticket_(ticket) {}
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
  Rank holder() const {
    const std::uint32_t by = control.lock(target_).holder.load(std::memory_order_relaxed);
    return static_cast<Rank>(by & ~LockLine::kLeft) - 1;
  }
  const Rank target_;
  std::atomic<std::uint32_t>& word_;
  const std::uint32_t ticket_;
};

/// Until no guest holds the lock, or no writer does.
class LockFree final : public SharedCondition {
 public:
  LockFree(RmaWindow& of, const Control& block, Rank target, const std::atomic<std::uint32_t>& word, const char* who)
      : SharedCondition(of, block, "MPI_Win_lock", Sleep::kLock, target), target_(target), word_(word), who_(who) {}
  bool holds() override { return (word_.load(std::memory_order_acquire) & ~LockLine::kLeft) == 0; }
  Rank awaited() const override { return -1; }
  void describe(char* out, std::size_t room) const override {
    std::snprintf(out, room, "for the lock of rank %d, which %s", target_, who_);
  }

 private:
  const Rank target_;
  const std::atomic<std::uint32_t>& word_;
  const char* const who_;
};

/// Until no epoch to all is open.
class NoLockAll final : public SharedCondition {
 public:
  NoLockAll(RmaWindow& of, const Control& block) : SharedCondition(of, block, "MPI_Win_lock", Sleep::kLockAll) {}
  bool holds() override { return control.header().lock_alls.load(std::memory_order_acquire) == 0; }
  Rank awaited() const override { return -1; }
  void describe(char* out, std::size_t room) const override {
    std::snprintf(out, room, "until no epoch of MPI_Win_lock_all is open,");
  }
};

/// Whether no lock is held exclusively. Those that writers have left are not counted from now on.
bool no_writers(const Control& control) {
  std::atomic<std::uint32_t>& count = control.header().exclusive;
  if (count.load(std::memory_order_acquire) == 0) [[likely]]
    return true;
  for (std::uint32_t target = 0; target < control.ranks(); ++target) {
    std::atomic<std::uint32_t>& holder = control.lock(static_cast<Rank>(target)).holder;
    std::uint32_t left = LockLine::kLeft;
    if (holder.load(std::memory_order_relaxed) == left &&
        holder.compare_exchange_strong(left, 0, std::memory_order_acq_rel, std::memory_order_relaxed))
      count.fetch_sub(1, std::memory_order_seq_cst);
  }
  return count.load(std::memory_order_acquire) == 0;
}

class NoWriters final : public SharedCondition {
 public:
  NoWriters(RmaWindow& of, const Control& block) : SharedCondition(of, block, "MPI_Win_lock_all", Sleep::kLockAll) {}
  bool holds() override { return no_writers(control); }
  Rank awaited() const override {
    Rank target = 0;
    return holder(&target);
  }
  void describe(char* out, std::size_t room) const override {
    Rank target = 0;
    const Rank by = holder(&target);
    if (by >= 0)
      std::snprintf(out, room, "for the lock of rank %d, which rank %d holds exclusively,", target, by);
    else
      std::snprintf(out, room, "until no rank of the window is locked exclusively,");
  }

 private:
  /// The first writer that is inside; -1: there is none any more.
  Rank holder(Rank* target) const {
    for (*target = 0; *target < window.ranks; ++*target) {
      const std::uint32_t by = control.lock(*target).holder.load(std::memory_order_relaxed) & ~LockLine::kLeft;
      if (by != 0) return static_cast<Rank>(by) - 1;
    }
    return -1;
  }
};

}  // namespace

/// Whether epochs to all, or guests, wait for a moment without a writer.
bool SharedSync::others_wait(const LockLine& line) const {
  return (control_.header().lock_alls_waiting.load(std::memory_order_relaxed) |
          line.guests_waiting.load(std::memory_order_relaxed)) != 0;
}

Status SharedSync::lock_exclusive(LockLine& line, Rank target, std::uint32_t ticket) {
  if (line.writers.load(std::memory_order_acquire) != ticket) {
    LockWait turn(window_, control_, target, line.writers, ticket);
    ASHLAR_TRY(wait(window_, turn));
  }
  // Others that wait would starve beside a stream of exclusive locks, so they go first; not for ever, because it may be
  // that the holder of another lock needs this one.
  for (int look = 0; look < kLooksForOthers && others_wait(line); ++look) continue;
  ControlHeader& header = control_.header();
  const std::uint32_t holder = static_cast<std::uint32_t>(window_.me) + 1;
  std::uint32_t left = LockLine::kLeft;
  const bool counted =
      line.holder.compare_exchange_strong(left, holder, std::memory_order_seq_cst, std::memory_order_relaxed);
  if (!counted) {
    line.holder.store(holder, std::memory_order_relaxed);
    header.exclusive.fetch_add(1, std::memory_order_seq_cst);
  }
  fence_after_atomic();
  if (line.guests.load(std::memory_order_acquire) != 0) [[unlikely]] {
    LockFree alone(window_, control_, target, line.guests, "other ranks share,");
    ASHLAR_TRY(wait(window_, alone));
  }
  if (counted || header.lock_alls.load(std::memory_order_acquire) == 0) [[likely]]
    return {};
  NoLockAll alone(window_, control_);
  return wait(window_, alone);
}

void SharedSync::unlock_exclusive(LockLine& line, Rank target) {
  const std::uint32_t next = line.writers.load(std::memory_order_relaxed) + 1;
  const bool leaves = !others_wait(line);
  line.holder.store(leaves ? LockLine::kLeft : 0, std::memory_order_release);
  line.readers.store(next, std::memory_order_release);
  line.writers.store(next, std::memory_order_release);
  if (!leaves) control_.header().exclusive.fetch_sub(1, std::memory_order_seq_cst);
  wake_sleepers(window_, control_, Sleep::kLock, target);
  wake_sleepers(window_, control_, Sleep::kLockAll);
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

Status SharedSync::lock_as_guest(LockLine& line, Target& target) {
  target.guest = true;
  for (;;) {
    line.guests.fetch_add(1, std::memory_order_seq_cst);
    fence_after_atomic();
    if ((line.holder.load(std::memory_order_acquire) & ~LockLine::kLeft) == 0) return {};
    line.guests.fetch_sub(1, std::memory_order_seq_cst);
    wake_sleepers(window_, control_, Sleep::kLock, target.rank);
    line.guests_waiting.fetch_add(1, std::memory_order_relaxed);
    LockFree free(window_, control_, target.rank, line.holder, "another rank holds exclusively,");
    const Status waited = wait(window_, free);
    line.guests_waiting.fetch_sub(1, std::memory_order_relaxed);
    ASHLAR_TRY(waited);
  }
}

Status SharedSync::lock(Target& target, bool exclusive) {
  LockLine& line = control_.lock(target.rank);
  if (!exclusive && window_.epochs.locks > 1) return lock_as_guest(line, target);
  const std::uint32_t ticket = line.tickets.fetch_add(1, std::memory_order_acq_rel);
  return exclusive ? lock_exclusive(line, target.rank, ticket) : lock_shared(line, target.rank, ticket);
}

Status SharedSync::unlock(Target& target, bool exclusive) {
  LockLine& line = control_.lock(target.rank);
  if (exclusive) {
    unlock_exclusive(line, target.rank);
    return {};
  }
  if (target.guest) {
    target.guest = false;
    line.guests.fetch_sub(1, std::memory_order_seq_cst);
  } else {
    line.writers.fetch_add(1, std::memory_order_acq_rel);
  }
  wake_sleepers(window_, control_, Sleep::kLock, target.rank);
  return {};
}

Status SharedSync::lock_all() {
  ControlHeader& header = control_.header();
  for (;;) {
    header.lock_alls.fetch_add(1, std::memory_order_seq_cst);
    fence_after_atomic();
    if (no_writers(control_)) [[likely]]
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
