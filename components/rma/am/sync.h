#pragma once
#include <cstdint>
#include <span>

#include "components/rma/am/window.h"
#include "framework/rma/guard.h"
#include "framework/rma/sync.h"

namespace ashlar::rma::am {

/// Synchronization by messages.
///
/// Locks: each process has a lock of its memory, granted in the order of the requests (LockQueue). MPI_Win_lock_all
/// does not ask every process: rank 0 has a second lock, which processes hold together either for MPI_Win_lock_all
/// (kAll) or to lock exclusively (kSome). So lock_all is one message and its answer however many ranks there are,
/// shared locks of one target one, and exclusive locks two. An exclusive lock is asked for only when the lock at rank 0
/// is held: the other way round two of them could wait for each other. Threads of a process share its part in the lock
/// at rank 0.
///
/// Posts and completions are counted for each pair of processes: a post for a later epoch may come early.
class MessageSync final : public Sync {
 public:
  explicit MessageSync(AmWindow& window) : window_(window) {}

  const char* name() const override { return "messages"; }
  Status barrier(const char* call) override;
  Status post(std::span<const Rank> origins, bool no_check) override;
  Status start(std::span<const Rank> targets, bool no_check) override;
  Status complete(std::span<const Rank> targets) override;
  Status exposure_over(std::span<const Rank> origins, bool wait, bool* over) override;
  Status lock(Target& target, bool exclusive) override;
  Status unlock(Target& target, bool exclusive) override;
  Status lock_all() override;
  Status unlock_all() override;
  /// Updates are made by the process that owns the memory.
  Guard guard(Rank target) override {
    const RmaWindow& window = window_.window;
    return target == window.me && window.own_guard != nullptr ? *window.own_guard : Guard{};
  }

 private:
  LaneLock& lane() { return window_.window.lane().lock; }
  Status send(Rank to, Sub sub, const LockRequest* lock = nullptr);
  Status send_all(std::span<const Rank> to, Sub sub);
  Status acquire(Rank at, WhichLock which, LockMode mode);
  Status acquire_some();
  Status release(Rank at, WhichLock which, LockMode mode);
  Status release_some();

  AmWindow& window_;
  std::uint32_t locks_ = 0;  // of targets that are held
  std::uint32_t exclusive_ =
      0;                 // of these, the exclusive ones, and those for which this process holds the lock at rank 0
  bool asking_ = false;  // a thread waits for that
};

}  // namespace ashlar::rma::am
