#pragma once
#include <cstdint>
#include <list>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "framework/base/status.h"
#include "framework/rma/card.h"
#include "framework/rma/check_log.h"
#include "framework/rma/way.h"
#include "framework/rma/window.h"

namespace ashlar::rma {

/// check.rma, of one window: operations are logged at their targets while they are not complete, and those that
/// conflict are a failure of the synchronization that ends the origin's epoch. Only what is surely wrong is told: two
/// accesses of which neither is complete when the second one is made. Loads and stores of the program are not seen.
///
///   MPI_Put -> Target::copies is checked_way -> add() to the log -> the way that was found for the target
///   fence, complete, flush, unlock -> end_*() -> report()
class Check {
 public:
  explicit Check(RmaWindow& window) : window_(window) {}
  /// Collective.
  Status make();

  /// From now on operations to the target are logged. Under the lane's lock.
  void wrap(Target& target);

  /// An operation of this process begins. A conflict is kept for report().
  Status begin(const Target& target, const Place& place, LoggedAccess access);

  /// MPI_Win_fence: before anything else, what all processes assert; collective; and after its barrier, when the
  /// operations of all processes are complete.
  Status begin_fence(int assert);
  Status end_fence(int assert);
  /// MPI_Win_post, and when the processes that it has posted to have completed their epochs.
  Status begin_exposure(int assert);
  Status end_exposure();
  /// Before a flush or an unlock of `target`, or of all.
  Status end_passive(Rank target);
  /// The first conflict since the last report, as a failure.
  Status report();

 private:
  struct Conflict {
    LoggedAccess own, other;
    Rank target = -1;
  };
  bool sums() const;
  std::uint64_t sum() const;
  Status compare_asserts(int assert);
  Status end_active();
  Status check_no_stores(int assert);

  RmaWindow& window_;
  std::mutex mutex_;  // guards the rest
  AccessLog log_;
  std::list<Target> real_;  // of the targets that are wrapped: how they are reached
  std::set<Rank> passive_;  // targets of accesses that are not flushed
  Conflict conflict_;
  std::uint64_t more_ = 0;  // conflicts after that
  // NOSTORE, NOPUT
  std::uint64_t sum_ = 0, updates_ = 0;
  bool sum_holds_ = false, no_puts_ = false;
};

inline constexpr Rank kEveryTarget = -1;
inline Status end_passive(RmaWindow& window, Rank target) {
  if (window.check == nullptr) [[likely]]
    return {};
  return window.check->end_passive(target);
}

/// What processes have said of the window, when they do not agree: a failure, the same on all of them.
Status compare_hints(const RmaWindow& window, std::span<const Card> cards);

/// The ways of targets whose operations are logged: Target::state is the target as it is reached (Check::wrap).
extern const Way checked_way, checked_way_by_messages;
inline bool is_checked(const Way* way) { return way == &checked_way || way == &checked_way_by_messages; }
/// The target as it is reached.
inline const Target& reached(const Target& target) {
  return is_checked(target.copies) ? *static_cast<const Target*>(target.state) : target;
}

}  // namespace ashlar::rma
