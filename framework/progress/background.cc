#include "framework/progress/background.h"

#include <signal.h>
#include <time.h>

#include <system_error>

#include "framework/base/background_thread.h"
#include "framework/progress/waiting.h"

namespace ashlar::progress {
namespace {

constexpr std::uint64_t kLongestSleep = 20'000'000;
constexpr long kOutOfTheWay = 500'000;  // ns between looks whether the program still waits by itself
constexpr long kUnderWay = 40'000;      // and between looks at something that others are busy with

}  // namespace

bool Background::start(std::span<Lane* const> lanes) {
  stopping_.store(false, std::memory_order_relaxed);
  lanes_.assign(lanes.begin(), lanes.end());
  // Signals are the program's threads' business.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (Lane* lane : lanes_) threads_.emplace_back([this, lane] { run(*lane); });
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return threads_.size() == lanes_.size();
}

void Background::stop() {
  stopping_.store(true, std::memory_order_release);
  for (Lane* lane : lanes_) raise_from_outside(*lane);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  lanes_.clear();
}

void Background::run(Lane& lane) {
  enter_background();
  while (!stopping_.load(std::memory_order_acquire)) {
    if (lane.attended.load(std::memory_order_relaxed) != 0) {
      const timespec pause{0, kOutOfTheWay};
      nanosleep(&pause, nullptr);
      continue;
    }
    bool under_way = false;
    {
      const LaneGuard guard(lane.lock);
      if (poll(lane) != 0) {
        lane.lock.give_way();
      } else {
        const std::uint64_t sleeps = lane.counters.sleeps;
        sleep(lane, kLongestSleep, Sleeper::kBackground);
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
