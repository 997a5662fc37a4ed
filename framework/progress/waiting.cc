#include "framework/progress/waiting.h"

#include <sched.h>

#include "framework/progress/peer.h"

namespace ashlar::progress {
namespace {

// A sleeping process still looks now and then: transports find dead peers only while they are polled.
constexpr std::uint64_t kLongestSleep = 50'000'000;

// A yield is the cheapest hand-over between processes that all wait for each other. Beside one that computes it costs a
// whole time slice (3 ms measured against 10 us of being woken from sleep), so after such a yield waiting calls sleep
// at once for this long before one tries again.
constexpr std::uint64_t kCrowdedFor = 50'000'000;

// Rounds of one lane between looks at the others: a blocking call makes progress on everything its process has going.
constexpr std::uint64_t kOthersEvery = 16;

void poll_others(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  for (Lane* other = lane.next_lane; other != &lane; other = other->next_lane) {
    if (other->attended.load(std::memory_order_relaxed) != 0) continue;
    if (!other->lock.try_lock()) continue;  // its holder polls it, or soon will
    poll(*other);
    other->lock.unlock();
  }
}

}  // namespace

void Waiting::end() ASHLAR_NO_THREAD_SAFETY {
  if (attended_ != nullptr) attended_->attended.fetch_sub(1, std::memory_order_relaxed);
  if (since_ != 0) List<Waiting>::remove(this);
}

void Waiting::share(Lane& lane) {
  if (attended_ == nullptr) {
    attended_ = &lane;
    lane.attended.fetch_add(1, std::memory_order_relaxed);
  }
  if (lane.next_lane != nullptr && empty_rounds_ % kOthersEvery == 0) poll_others(lane);
  lane.lock.give_way();
}

void Waiting::offer(Lane& lane, Reason reason) {
  const std::uint64_t now = now_ns();
  if (since_ == 0) {
    since_ = now;
    reason_ = reason;
    lane.waits.push_back(this);
    lane.peers.hear(lane);  // a question that came in the spin stage could not be answered then
  }
  if (lane.next_lane != nullptr) poll_others(lane);
  if (now - since_ < lane.sleep_after() && now >= lane.crowded_until) {
    ++lane.counters.yields;
    lane.lock.unlock();
    sched_yield();
    const std::uint64_t back = now_ns();
    lane.lock.lock();
    if (back - now > lane.config.long_yield) lane.crowded_until = back + kCrowdedFor;
    return;
  }
  // Several lanes have no wake-up in common: then sleep in short pieces.
  sleep(lane, lane.next_lane == nullptr ? kLongestSleep : 1'000'000);
}

}  // namespace ashlar::progress
