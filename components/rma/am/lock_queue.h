#pragma once
#include <cstdint>

#include "framework/base/list.h"
#include "framework/base/types.h"

namespace ashlar::rma::am {

enum class LockMode : std::uint8_t {
  kShared,
  kExclusive,  // alone
  kAll,        // MPI_Win_lock_all
  kSome        // a process that holds exclusive locks, or waits for one
};
/// Whether several processes may hold a lock in this mode. In different modes they may not.
inline bool shares(LockMode mode) { return mode != LockMode::kExclusive; }

/// One process's request for a lock, or its hold of it.
struct LockEntry : ListHook {
  Rank rank = 0;
  LockMode mode = LockMode::kShared;
};

/// A lock that is granted in the order of the requests; neighbours in one mode that may be shared hold it together. It
/// allocates nothing: the entries are the caller's, one for each process.
class LockQueue {
 public:
  /// True: granted. False: later, by release(). `entry` is in no lock. A request that is `nested`, of a process that
  /// holds another lock, joins holders in the same mode before requests that came earlier: these may wait for that
  /// other lock, and would wait for ever.
  bool request(LockEntry& entry, bool nested) {
    if ((waiting_.empty() || (nested && holding_.front() != nullptr)) && admits(entry.mode)) {
      holding_.push_back(&entry);
      return true;
    }
    waiting_.push_back(&entry);
    return false;
  }
  /// `entry` holds the lock, or waits for it, and is to do so no more. Calls granted(LockEntry&) for each request that
  /// is granted now.
  template <class Granted>
  void release(LockEntry& entry, Granted granted) {
    List<LockEntry>::remove(&entry);
    while (LockEntry* const next = waiting_.front()) {
      if (!admits(next->mode)) return;
      List<LockEntry>::remove(next);
      holding_.push_back(next);
      granted(*next);
    }
  }

  /// One that holds the lock, the oldest; nullptr: it is free.
  const LockEntry* holder() { return holding_.front(); }
  std::uint32_t waiting() {
    std::uint32_t count = 0;
    for (LockEntry& entry : waiting_) {
      static_cast<void>(entry);
      ++count;
    }
    return count;
  }

 private:
  bool admits(LockMode mode) {
    const LockEntry* const held = holding_.front();
    return held == nullptr || (held->mode == mode && shares(mode));
  }

  List<LockEntry> holding_;  // all in one mode
  List<LockEntry> waiting_;  // oldest first
};

}  // namespace ashlar::rma::am
