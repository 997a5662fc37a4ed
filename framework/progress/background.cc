#include "framework/progress/background.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <system_error>

#include "framework/base/background_thread.h"
#include "framework/base/blocked_signals.h"
#include "framework/base/clock.h"
#include "framework/progress/waiting.h"

namespace ashlar::progress {
namespace {

constexpr std::uint64_t kLongestSleep = 20'000'000;
constexpr std::uint64_t kShortAbsence = 500'000;  // ns between looks whether the program still waits by itself
constexpr std::uint64_t kLongestDormancy = 200'000'000;
constexpr std::uint64_t kEager = 20'000'000;  // ns that a dormant thread looks at what arrives once it was woken
constexpr long kUnderWay = 40'000;            // and between looks at something that others are busy with

/// A thread of the program waits on `lane`. A wait that has slept wakes this thread at its end; others are short and
/// must not pay for a system call, so this thread looks again soon. Between the two loads and the futex the wait may
/// end, and the next begin: then the absence lasts kLongestSleep at most.
void stay_away(Lane& lane, std::uint32_t attended) {
  const bool asleep = lane.attended_asleep.load(std::memory_order_relaxed) != 0;
  const timespec limit{0, static_cast<long>(asleep ? kLongestSleep : kShortAbsence)};
  syscall(SYS_futex, &lane.attended, FUTEX_WAIT_PRIVATE, attended, &limit, nullptr, 0);
}

}  // namespace

bool Background::start(std::span<Lane* const> lanes, bool dormant) {
  dormant_ = dormant;
  stopping_.store(false, std::memory_order_relaxed);
  lanes_.assign(lanes.begin(), lanes.end());
  const BlockedSignals for_the_program;
  try {
    for (Lane* lane : lanes_) threads_.emplace_back([this, lane] { run(*lane); });
  } catch (const std::system_error&) {
  }
  return threads_.size() == lanes_.size();
}

void Background::stop() {
  stopping_.store(true, std::memory_order_release);
  for (Lane* lane : lanes_) {
    raise_from_outside(*lane);
    end_attendance(*lane);
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  lanes_.clear();
}

void Background::run(Lane& lane) {
  enter_background();
  std::uint64_t eager_until = 0;  // of a dormant thread
  while (!stopping_.load(std::memory_order_acquire)) {
    if (const std::uint32_t attended = lane.attended.load(std::memory_order_relaxed); attended != 0) {
      stay_away(lane, attended);
      continue;
    }
    bool under_way = false;
    {
      const LaneGuard guard(lane.lock);
      lane.counters.background_polls.add();
      const unsigned events = poll(lane);
      lane.counters.background_events.add(events);
      if (events != 0) {
        lane.lock.give_way();
      } else {
        const std::uint64_t sleeps = lane.counters.sleeps, timeouts = lane.counters.timeouts;
        const bool dormant = dormant_ && now_ns() >= eager_until;
        set_dormant(dormant);
        sleep(lane, {.longest = dormant ? kLongestDormancy : kLongestSleep}, Sleeper::kBackground);
        if (dormant && lane.counters.timeouts == timeouts) eager_until = now_ns() + kEager;
        under_way = lane.counters.sleeps == sleeps;  // the transports did not let it
      }
    }
    if (under_way) {
      const timespec pause{0, kUnderWay};
      nanosleep(&pause, nullptr);
    }
  }
}

}  // namespace ashlar::progress
