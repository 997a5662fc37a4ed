#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "components/rma/shm/control.h"
#include "components/rma/shm/state.h"

/// What a process that wants a lock, or an epoch to all, may wait for. The protocol stands in lock.cc.
namespace ashlar::rma::shm {

/// Takes a lock from the writer to which it was left open, `left` by LockLine::holder, and hands it on: the next ticket
/// is served. False: that writer, or somebody else, was faster.
inline bool close_left_lock(RmaWindow& window, const Control& control, Rank target, std::uint32_t left,
                            bool lane_is_held) {
  LockLine& line = control.lock(target);
  if (!line.holder.compare_exchange_strong(left, LockLine::kLeft, std::memory_order_acq_rel, std::memory_order_relaxed))
    return false;
  line.again.store(0, std::memory_order_relaxed);
  line.comes_back.store(0, std::memory_order_relaxed);
  line.serve_next();
  wake_sleepers(window, control, Sleep::kLock, target, lane_is_held);
  wake_sleepers(window, control, Sleep::kLockAll, 0, lane_is_held);  // where readers follow no writer does that
  return true;
}

/// Until a ticket is served, or can be: the first of the queue takes a lock that its last holder has left to either of
/// them, on behalf of that one.
class TicketTurn final : public SharedCondition {
 public:
  /// `word`: LockLine::readers or LockLine::writers.
  TicketTurn(RmaWindow& of, const Control& block, Rank target, std::atomic<std::uint32_t>& word, std::uint32_t ticket)
      : SharedCondition(of, block, "MPI_Win_lock", Sleep::kLock, target),
        target_(target),
        word_(word),
        ticket_(ticket) {}
  bool holds() override { return word_.load(std::memory_order_acquire) == ticket_ || takes_over(); }
  void pause() const override {
    const LockLine& line = control.lock(target_);
    const std::uint32_t before = ticket_ - line.writers.load(std::memory_order_relaxed);
    const std::uint32_t each = line.comes_back.load(std::memory_order_relaxed) != 0 ? kPausesBeside : 1;
    for (std::uint32_t pauses = each * std::clamp(before, 1u, kMostBefore); pauses > 0; --pauses) pause_briefly();
  }
  Rank awaited() const override { return holder(); }
  void describe(char* out, std::size_t room) const override {
    const Rank by = holder();
    if (by >= 0)
      std::snprintf(out, room, "for the lock of rank %d, which rank %d holds exclusively,", target_, by);
    else
      std::snprintf(out, room, "for the lock of rank %d, which other ranks hold or wait for,", target_);
  }

 private:
  // Each look takes the line from a writer that comes back: it costs that one more than a lock and an unlock.
  static constexpr std::uint32_t kPausesBeside = 10;
  static constexpr std::uint32_t kMostBefore = 8;

  Rank holder() const { return LockLine::inside(control.lock(target_).holder.load(std::memory_order_relaxed)); }
  bool takes_over() {
    LockLine& line = control.lock(target_);
    const std::uint32_t left = line.holder.load(std::memory_order_relaxed);
    if ((left & LockLine::kLeft) == 0 || left == LockLine::kLeft) return false;
    if (line.writers.load(std::memory_order_relaxed) + 1 != ticket_) return false;
    // One look more for a writer that comes back, most often at once: both save a move of the line.
    const std::uint32_t again = line.again.load(std::memory_order_relaxed) + 1u;
    if (line.comes_back.load(std::memory_order_relaxed) != 0 && !announced() &&
        std::exchange(seen_left_, again) != again)
      return false;
    return close_left_lock(window, control, target_, left, lane_is_held());
  }

  const Rank target_;
  std::atomic<std::uint32_t>& word_;
  const std::uint32_t ticket_;
  std::uint32_t seen_left_ = 0;  // LockLine::again + 1 when the lock was seen free
};

/// Of a writer whose turn has come: until no guest holds the lock.
class NoGuests final : public SharedCondition {
 public:
  NoGuests(RmaWindow& of, const Control& block, Rank target)
      : SharedCondition(of, block, "MPI_Win_lock", Sleep::kLock, target), target_(target) {}
  bool holds() override { return control.lock(target_).guests.load(std::memory_order_acquire) == 0; }
  Rank awaited() const override { return -1; }
  void describe(char* out, std::size_t room) const override {
    std::snprintf(out, room, "for the lock of rank %d, which other ranks share,", target_);
  }

 private:
  const Rank target_;
};

/// Of a writer whose turn has come: until no process shares the lock without a ticket. Those that come now take one.
class NoSharers final : public SharedCondition {
 public:
  NoSharers(RmaWindow& of, const Control& block, Rank target)
      : SharedCondition(of, block, "MPI_Win_lock", Sleep::kLock, target), target_(target) {}
  bool holds() override {
    for (; next_ < window.ranks; ++next_)
      if (control.rank(next_).sharing.load(std::memory_order_acquire) == static_cast<std::uint32_t>(target_) + 1)
        return false;
    return true;
  }
  Rank awaited() const override { return next_ < window.ranks ? next_ : -1; }
  void describe(char* out, std::size_t room) const override {
    std::snprintf(out, room, "for the lock of rank %d, which rank %d shares,", target_, next_);
  }

 private:
  const Rank target_;
  Rank next_ = 0;  // all before it do not
};

/// Of a guest: until no writer is inside.
class NoWriterInside final : public SharedCondition {
 public:
  NoWriterInside(RmaWindow& of, const Control& block, Rank target)
      : SharedCondition(of, block, "MPI_Win_lock", Sleep::kLock, target), target_(target) {}
  bool holds() override { return writer() < 0; }
  Rank awaited() const override { return writer(); }
  void describe(char* out, std::size_t room) const override {
    std::snprintf(out, room, "for the lock of rank %d, which another rank holds exclusively,", target_);
  }

 private:
  Rank writer() const { return LockLine::inside(control.lock(target_).holder.load(std::memory_order_acquire)); }

  const Rank target_;
};

/// Of a writer: until no epoch to all is open.
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
inline bool no_writers(RmaWindow& window, const Control& control, bool lane_is_held = false) {
  std::atomic<std::uint32_t>& count = control.header().exclusive;
  if (count.load(std::memory_order_acquire) == 0) [[likely]]
    return true;
  for (Rank target = 0; target < window.ranks; ++target) {
    std::atomic<std::uint32_t>& holder = control.lock(target).holder;
    std::uint32_t left = holder.load(std::memory_order_relaxed);
    if ((left & LockLine::kLeft) == 0) continue;
    if (left != LockLine::kLeft && !close_left_lock(window, control, target, left, lane_is_held)) continue;
    left = LockLine::kLeft;
    if (holder.compare_exchange_strong(left, 0, std::memory_order_acq_rel, std::memory_order_relaxed))
      count.fetch_sub(1, std::memory_order_seq_cst);
  }
  return count.load(std::memory_order_acquire) == 0;
}

/// Of an epoch to all.
class NoWriters final : public SharedCondition {
 public:
  NoWriters(RmaWindow& of, const Control& block) : SharedCondition(of, block, "MPI_Win_lock_all", Sleep::kLockAll) {}
  bool holds() override { return no_writers(window, control, lane_is_held()); }
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
      const Rank by = LockLine::inside(control.lock(*target).holder.load(std::memory_order_relaxed));
      if (by >= 0) return by;
    }
    return -1;
  }
};

}  // namespace ashlar::rma::shm
