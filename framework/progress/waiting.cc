#include "framework/progress/waiting.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>

#include "framework/plugin/records.h"
#include "framework/progress/peer.h"

namespace ashlar::progress {
namespace {

// A sleeping process still looks now and then: transports find dead peers only while they are polled.
constexpr std::uint64_t kLongestSleep = 50'000'000;

// The same where something beside MPI's messages ends a wait, such as a descriptor (Lane::waits_beside).
constexpr std::uint64_t kBeside = 1'000'000;

// A wait in which nothing has happened for so long is worth a look from outside (PeerTable::notify) now and then.
constexpr std::uint64_t kLongQuiet = 1'000'000'000;

// Sleeps while other lanes are left to other threads. One of these may stop looking after its lane without a word.
constexpr std::uint64_t kFirstNap = 1'000'000, kLongestNap = 4'000'000;

// Rounds of one lane between looks at the others: a blocking call makes progress on everything its process has going.
constexpr std::uint32_t kOthersEvery = 16;

// The same for calls that only look: so much weight of looks, of which one that finds nothing weighs kOthersEvery.
// Those that find something may well be all that a busy server does.
constexpr std::uint32_t kLooks = 256;
static_assert(kLooks % kOthersEvery == 0);

unsigned poll_others(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  unsigned events = 0;
  for (Lane* other = lane.next_lane; other != &lane; other = other->next_lane) {
    if (other->attended.load(std::memory_order_relaxed) != 0) continue;
    if (!other->lock.try_lock()) continue;  // its holder polls it, or soon will
    events += poll(*other);
    other->lock.unlock();
  }
  return events;
}

[[gnu::cold]] void note_long_yield(Lane& lane, std::uint64_t length) ASHLAR_REQUIRES(lane.lock) {
  const bool known = lane.counters.long_yields != 0;
  lane.counters.long_yields.add();
  if (known || lane.records == nullptr || !lane.contention.found(now_ns())) return;
  char because[120];
  std::snprintf(because, sizeof because, "a yield took %.1f ms: processes outside the job compete for the core",
                static_cast<double>(length) / 1e6);
  lane.records->add({"launch", "waiting", "sleep at once, and try yields again later", because,
                     "yield: each one would give a time slice away",
                     lane.config.oversubscribed ? "progress.long_yield_oversubscribed" : "progress.long_yield"});
}

/// Gives the core to others. Gives up the lock meanwhile.
void yield(Lane& lane, std::uint64_t now) ASHLAR_REQUIRES(lane.lock) {
  lane.counters.yields.add();
  lane.lock.step_out();
  sched_yield();
  const std::uint64_t back = now_ns();
  lane.lock.step_in();
  lane.counters.yield_time.add(back - now);
  if (lane.contention.yielded(now, back, lane.config)) [[unlikely]]
    note_long_yield(lane, back - now);
}

/// Gives the collectives of this lane that have waited long their regular look, or one that is due.
void review(Lane& lane, std::uint64_t now) ASHLAR_REQUIRES(lane.lock) {
  const bool regular = lane.review_every != 0 && now >= lane.next_review;
  const bool due = lane.review_by != 0 && now >= lane.review_by;
  if (!regular && !due) return;
  if (regular) lane.next_review = now + lane.review_every;
  lane.counters.reviews.add();
  lane.review(lane);
}

[[gnu::noinline]] unsigned look_further(Lane& lane) ASHLAR_REQUIRES(lane.lock) {
  lane.looks = 0;
  const unsigned events = lane.next_lane != nullptr ? poll_others(lane) : 0;
  if (lane.empty_looks > lane.spin_rounds()) {
    const std::uint64_t now = now_ns();
    review(lane, now);
    if (!lane.contention.found(now)) yield(lane, now);
  }
  return events;
}

}  // namespace

unsigned poll_all(Lane& lane) {
  const unsigned events = poll(lane);
  return lane.next_lane != nullptr ? events + poll_others(lane) : events;
}

bool yield_core(Lane& lane) {
  if (!lane.contention.watching()) [[likely]] {
    lane.counters.yields.add();
    lane.lock.step_out();
    sched_yield();
    lane.lock.step_in();
    lane.contention.returned(ticks());
    return true;
  }
  const std::uint64_t now = now_ns();
  if (lane.contention.found(now)) return false;
  yield(lane, now);
  return true;
}

unsigned look(Lane& lane) {
  const unsigned events = poll(lane);
  if (events != 0) {
    lane.empty_looks = 0;
    ++lane.looks;
  } else {
    ++lane.empty_looks;
    lane.looks += kOthersEvery;
  }
  if (lane.looks >= kLooks) [[unlikely]]
    return events + look_further(lane);
  return events;
}

void Waiting::end() ASHLAR_NO_THREAD_SAFETY {
  if (attended_ != nullptr) attended_->attended.fetch_sub(1, std::memory_order_relaxed);
  if (slept_) {
    attended_->attended_asleep.fetch_sub(1, std::memory_order_relaxed);
    end_attendance(*attended_);
  }
  if (since_ == 0) return;
  List<Waiting>::remove(this);
  waits_on_->counters.waiting.lower();
  waits_on_->counters.wait_time.add(now_ns() - since_);
}

inline void Waiting::attend(Lane& lane) {
  if (attended_ != nullptr) return;
  attended_ = &lane;
  lane.attended.fetch_add(1, std::memory_order_relaxed);
}

void Waiting::share(Lane& lane) {
  attend(lane);
  if (lane.next_lane != nullptr && empty_rounds_ % kOthersEvery == 0) poll_others(lane);
  lane.lock.give_way();
}

/// Two waits of one lane are nested, in a callback of the user's, or without locks two threads destroy the lane's
/// queues.
void Waiting::check_alone(Lane& lane) {
  for (const Waiting& other : lane.waits)
    if (!pthread_equal(other.thread_, thread_)) LaneLock::intruded("two threads wait in MPI calls at the same time");
}

void Waiting::yield_or_sleep(Lane& lane, Reason reason) {
  const std::uint64_t now = now_ns();
  if (since_ == 0) {
    since_ = quiet_since_ = now;
    waits_on_ = &lane;
    reason_ = reason;
    user_call_ = UserCall::current();
    thread_ = pthread_self();
    if (!LaneLock::threads_on()) check_alone(lane);
    lane.waits.push_back(this);
    lane.counters.waits.add();
    lane.counters.waiting.raise();
    lane.peers.notify(lane);  // a request for a report that came in the spin stage could not be answered then
  }
  review(lane, now);
  // Messages that follow each other closely, as the parts of one large transfer, find a receiver that is awake: waking
  // it costs the sender more than the message. Where ranks outnumber cores another rank needs the core at once.
  if (idle_since_ == 0) {
    quiet_since_ = now;
    idle_since_ = lane.config.oversubscribed ? since_ : now;
  }
  if (now - quiet_since_ > kLongQuiet) lane.peers.notify(lane);
  if (LaneLock::threads_on()) attend(lane);
  // What happened there may be what is waited for.
  if (lane.next_lane != nullptr && poll_others(lane) != 0) return;
  if (now - idle_since_ < lane.sleep_after() && !lane.contention.found(now)) {
    yield(lane, now);
    return;
  }
  if (lane.config.thread && attended_ != nullptr && !slept_) {
    slept_ = true;
    lane.attended_asleep.fetch_add(1, std::memory_order_relaxed);
  }
  if (idle_since_ == now || nap_ == 0) nap_ = kFirstNap;
  std::uint64_t longest = kLongestSleep;
  if (lane.waits_beside != 0) longest = kBeside;
  if (lane.review_by != 0) longest = std::min(longest, lane.review_by > now ? lane.review_by - now : 1);
  const std::uint64_t unheard = unheard_after(now - quiet_since_);
  if (!sleep(lane, {.longest = longest, .left_out = nap_, .unheard = unheard})) nap_ = std::min(2 * nap_, kLongestNap);
}

}  // namespace ashlar::progress
