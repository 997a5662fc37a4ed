#pragma once
#include <pthread.h>

#include <algorithm>
#include <cstdint>

#include "framework/base/clock.h"
#include "framework/base/list.h"
#include "framework/base/thread_annotations.h"
#include "framework/progress/lane.h"
#include "framework/progress/user_call.h"

namespace ashlar::plugin {
class AccountWriter;
}
namespace ashlar::progress {

/// What a wait is for: `tell` writes it into a report, under the lane's lock.
struct Reason {
  void (*tell)(const void* what, Lane& lane, plugin::AccountWriter& account) = nullptr;
  const void* what = nullptr;
};

/// The stages of one wait: spin, then yield the core, then sleep until a transport or another thread raises the lane.
class Waiting : public ListHook {  // hook: Lane::waits
 public:
  explicit Waiting(Lane& lane) : spin_(lane.spin_rounds()) {}
  ~Waiting() {
    if (since_ != 0 || attended_ != nullptr) [[unlikely]]
      end();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// After a round that handled `events`. May give up the lock between, yield the core, or sleep.
  void pause(Lane& lane, unsigned events, const Reason& reason) ASHLAR_REQUIRES(lane.lock) {
    if (events != 0) {
      empty_rounds_ = 0;
      idle_since_ = 0;
    } else if (++empty_rounds_ > spin_) {
      yield_or_sleep(lane, reason);
      return;
    }
    if (LaneLock::threads_on() || lane.next_lane != nullptr) [[unlikely]]
      share(lane);
  }

  bool spins() const { return since_ == 0; }
  /// When it left the spin stage, and why it waits.
  std::uint64_t since() const { return since_; }
  /// When the wait became quiet: no round of it has had an event since then.
  std::uint64_t quiet_since() const { return quiet_since_; }
  const Reason& reason() const { return reason_; }
  /// The call of the user's that it is a part of; nullptr: it is one itself.
  const UserCall* user_call() const { return user_call_; }

 private:
  void end();
  void yield_or_sleep(Lane& lane, Reason reason) ASHLAR_REQUIRES(lane.lock);
  void share(Lane& lane) ASHLAR_REQUIRES(lane.lock);
  void attend(Lane& lane);
  void check_alone(Lane& lane) ASHLAR_REQUIRES(lane.lock);

  const std::uint64_t spin_;
  std::uint64_t empty_rounds_ = 0;
  Lane* waits_on_;                // NOLINT: set when it leaves the spin stage
  Lane* attended_ = nullptr;      // counted in its Lane::attended
  bool slept_ = false;            // and in its Lane::attended_asleep
  std::uint64_t since_ = 0;       // 0: it is in the spin stage
  std::uint64_t idle_since_ = 0;  // when it yielded for the first time since something happened
  std::uint64_t quiet_since_;     // NOLINT: set with idle_since_
  std::uint64_t nap_ = 0;         // the longest sleep while other lanes are in other threads' hands
  pthread_t thread_ = {};         // set then, too
  Reason reason_;                 // set when it leaves that
  const UserCall* user_call_;     // NOLINT: set then, too
};

/// A thread in wait(), which is woken by others' progress as well, or one that only looks after arrivals.
enum class Sleeper { kWaiting, kBackground };

/// Yields the core once. False, without a yield, while processes outside the job compete for it (Contention): a caller
/// that would yield again goes to sleep instead. Gives up the lock meanwhile.
bool yield_core(Lane& lane) ASHLAR_REQUIRES(lane.lock);

/// How long a sleep may last, in nanoseconds.
struct SleepLimits {
  std::uint64_t longest;
  std::uint64_t left_out = 1'000'000;  // while other lanes are in the hands of other threads
  std::uint64_t unheard = 1'000'000;   // where something that may arrive cannot end it
};

/// SleepLimits::unheard of a wait in which nothing has happened for so long. What is not heard comes late by a part of
/// that, and not by a whole millisecond; a long wait still looks a thousand times a second at most.
constexpr std::uint64_t unheard_after(std::uint64_t quiet_ns) {
  constexpr std::uint64_t kShortest = 50'000, kPart = 4, kLongest = 1'000'000;
  return std::clamp(quiet_ns / kPart, kShortest, kLongest);
}

/// Sleeps until something may have arrived on `lane`. Gives up the lock meanwhile. Returns at once when there is work
/// left, or something arrived before the transports could arm themselves. A waiting thread is woken for the process's
/// other lanes too, but for those that are in the hands of other threads. False when there are such, or work on
/// another lane.
bool sleep(Lane& lane, SleepLimits limits, Sleeper sleeper = Sleeper::kWaiting) ASHLAR_REQUIRES(lane.lock);

/// Makes progress until done() holds. `done` is called under the lane's lock, which the caller holds; the lock is given
/// up between rounds, so other threads get on. Blocks. Not from a handler, a completion or a waiter.
template <class Done>
void wait(Lane& lane, Done done, Reason reason = {}) ASHLAR_REQUIRES(lane.lock) {
  if (done()) return;
  unsigned events = lane.near_and_far ? poll_in_wait(lane) : poll(lane);
  if (done()) return;  // what is there already costs no more than the look
  Waiting waiting(lane);
  for (;;) {
    waiting.pause(lane, events, reason);
    if (LaneLock::threads_on() && done()) return;
    events = lane.near_and_far && waiting.spins() ? poll_in_wait(lane) : poll(lane);
    if (done()) return;
  }
}

}  // namespace ashlar::progress
