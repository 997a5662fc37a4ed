#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "framework/base/clock.h"
#include "framework/progress/outside.h"
#include "framework/progress/waiting.h"

namespace ashlar::progress {

constinit std::atomic<std::uint32_t> raised_from_outside{0};

namespace {

// Room in a full ring of a peer raises no wake-up.
constexpr std::uint64_t kUntilRoom = 100'000;

constexpr unsigned kMostWakeups = 128;  // what one futex_waitv takes
constexpr unsigned kMostLanes = 64;     // of one sleep; those beyond are looked at now and then

/// What a sleeping thread can be woken by, read before the transports are armed.
struct Wakeups {
  struct Word {
    std::uint32_t* at;
    std::uint32_t value;
  };
  std::array<Word, kMostWakeups> words;
  std::array<pollfd, kMostWakeups> fds;
  unsigned word_count = 0, fd_count = 0;
  bool blind = false;  // something has neither, or there is no room for it

  void add_word(std::uint32_t* at) {
    if (word_count == kMostWakeups) {
      blind = true;
      return;
    }
    words[word_count++] = {at, __atomic_load_n(at, __ATOMIC_SEQ_CST)};
  }
  /// By the descriptor, if there is one (-1: none), or by the word, if there is one.
  void add(int fd, std::uint32_t* word) {
    if (fd >= 0 && fd_count < kMostWakeups) {
      fds[fd_count++] = pollfd{fd, POLLIN, 0};
    } else if (word != nullptr) {
      add_word(word);
    } else {
      blind = true;
    }
  }

  static std::uint32_t* word_of(ashlar_iface* iface) {
    return iface->ops->wake_word ? iface->ops->wake_word(iface) : nullptr;
  }
  static int descriptor_of(ashlar_iface* iface) { return iface->ops->wake_fd ? iface->ops->wake_fd(iface) : -1; }
};

/// Whether some interface offers a descriptor alone.
bool needs_descriptors(Lane& lane) ASHLAR_REQUIRES(lane.lock) {
  for (unsigned i = 0; i < lane.iface_count; ++i) {
    if (Wakeups::word_of(lane.ifaces[i]) == nullptr && Wakeups::descriptor_of(lane.ifaces[i]) >= 0) return true;
  }
  return false;
}

timespec to_timespec(std::uint64_t ns) {
  timespec t;
  t.tv_sec = static_cast<time_t>(ns / 1'000'000'000u);
  t.tv_nsec = static_cast<long>(ns % 1'000'000'000u);
  return t;
}

bool sleep_on_one(const Wakeups::Word& word, std::uint64_t ns) {
  const timespec timeout = to_timespec(ns);
  return syscall(SYS_futex, word.at, FUTEX_WAIT, word.value, &timeout, nullptr, 0) == 0 || errno != ETIMEDOUT;
}

bool sleep_on_words(const Wakeups& wakeups, std::uint64_t ns, std::uint64_t unheard_ns) {
#ifdef SYS_futex_waitv
  std::array<futex_waitv, kMostWakeups> list = {};
  for (unsigned i = 0; i < wakeups.word_count; ++i) {
    list[i].val = wakeups.words[i].value;
    list[i].uaddr = reinterpret_cast<std::uintptr_t>(wakeups.words[i].at);
    list[i].flags = FUTEX_32;
  }
  const timespec deadline = to_timespec(now_ns() + ns);
  if (syscall(SYS_futex_waitv, list.data(), wakeups.word_count, 0, &deadline, CLOCK_MONOTONIC) >= 0) return true;
  if (errno != ENOSYS && errno != EPERM) return errno != ETIMEDOUT;
#endif
  return sleep_on_one(wakeups.words[0], std::min(ns, unheard_ns));
}

/// False: nothing came within `ns`; `unheard_ns` where something cannot end the sleep: no call of the system waits for
/// words and descriptors at once, and what is waited for by its word here offers no descriptor.
bool block(Wakeups& wakeups, std::uint64_t ns, std::uint64_t unheard_ns) {
  if (wakeups.blind || (wakeups.fd_count != 0 && wakeups.word_count != 0)) ns = std::min(ns, unheard_ns);
  if (wakeups.fd_count != 0) {
    const timespec timeout = to_timespec(ns);
    return ppoll(wakeups.fds.data(), wakeups.fd_count, &timeout, nullptr) != 0;
  }
  if (wakeups.word_count == 1) return sleep_on_one(wakeups.words[0], ns);
  if (wakeups.word_count > 1) return sleep_on_words(wakeups, ns, unheard_ns);
  const timespec pause = to_timespec(ns);
  nanosleep(&pause, nullptr);
  return false;
}

/// The descriptor that raise() makes readable; -1 without one.
int descriptor_of(Lane& lane) ASHLAR_REQUIRES(lane.lock) {
  const int known = lane.wake_fd.load(std::memory_order_relaxed);
  if (known >= 0) return known;
  const int made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  lane.wake_fd.store(made, std::memory_order_seq_cst);
  return made;
}

/// Arms the transports of one lane. The order matters: read the words, arm, look once more, sleep. Whatever arrives
/// after the look changes a word. False: something is there already. disarm() has to follow in any case.
bool arm(Lane& lane, Wakeups& wakeups) ASHLAR_REQUIRES(lane.lock) {
  const bool by_descriptor = needs_descriptors(lane);
  if (LaneLock::threads_on() || raised_from_outside.load(std::memory_order_relaxed) != 0)
    wakeups.add(by_descriptor ? descriptor_of(lane) : -1, &lane.wake_word);
  for (unsigned i = 0; i < lane.iface_count; ++i) {
    ashlar_iface* const iface = lane.ifaces[i];
    std::uint32_t* const word = Wakeups::word_of(iface);
    wakeups.add(word == nullptr || by_descriptor ? Wakeups::descriptor_of(iface) : -1, word);
  }
  ++lane.armed;
  bool quiet = true;
  unsigned armed = 0;
  while (armed < lane.iface_count && quiet) {
    ashlar_iface* const iface = lane.ifaces[armed++];
    quiet = iface->ops->arm(iface) == ASHLAR_OK;
  }
  lane.armed_ifaces = std::max(lane.armed_ifaces, armed);
  return quiet && poll(lane) == 0;
}

void disarm(Lane& lane) ASHLAR_REQUIRES(lane.lock) {
  if (--lane.armed != 0) return;  // another thread sleeps on it too, and is woken by the same descriptors
  if (const int fd = lane.wake_fd.load(std::memory_order_relaxed); fd >= 0) {
    eventfd_t raised;
    eventfd_read(fd, &raised);
  }
  while (lane.armed_ifaces > 0) {
    ashlar_iface* const iface = lane.ifaces[--lane.armed_ifaces];
    iface->ops->disarm(iface);
  }
}

/// How long a sleep for this lane may last.
void limit_by(const Lane& lane, std::uint64_t* limit_ns) ASHLAR_REQUIRES(lane.lock) {
  if (!lane.stalled.empty()) *limit_ns = std::min(*limit_ns, kUntilRoom);
  if (lane.look_again == 0) return;
  const std::uint64_t now = now_ns();
  *limit_ns = std::min(*limit_ns, lane.look_again > now ? lane.look_again - now : 1);
}

bool has_work(const Lane& lane) ASHLAR_REQUIRES(lane.lock) { return lane.self_busy || !lane.ready.empty(); }

/// The process's other lanes, as far as no other thread looks after them: a thread that sleeps is woken for them as
/// well.
class Others {
 public:
  enum class Found { kQuiet, kSomeLeftOut, kWork };

  Found arm_all(Lane& own, Wakeups& wakeups, std::uint64_t* limit_ns) ASHLAR_NO_THREAD_SAFETY {
    Found found = Found::kQuiet;
    for (Lane* other = own.next_lane; other != nullptr && other != &own; other = other->next_lane) {
      if (count_ == kMostLanes || other->attended.load(std::memory_order_relaxed) != 0 || !other->lock.try_lock()) {
        found = Found::kSomeLeftOut;
        continue;
      }
      Found of_this = Found::kSomeLeftOut;
      // One that is used from time to time would wake this thread for messages that another thread is after.
      if (other->uses_seen == other->lock.uses()) {
        limit_by(*other, limit_ns);
        ++other->sleepers;
        of_this = arm(*other, wakeups) && !has_work(*other) ? Found::kQuiet : Found::kWork;
        lanes_[count_++] = other;
      }
      other->uses_seen = other->lock.uses();
      other->lock.unlock();
      if (of_this == Found::kWork) return of_this;
      if (of_this == Found::kSomeLeftOut) found = of_this;
    }
    return found;
  }
  /// Without any lock held: one that waits for another lane's lock must have none.
  void disarm_all() {
    for (unsigned i = 0; i < count_; ++i) {
      Lane& other = *lanes_[i];
      const LaneGuard guard(other.lock);
      if (other.uses_seen + 1 == other.lock.uses()) ++other.uses_seen;  // that was the guard here
      --other.sleepers;
      disarm(other);
    }
    count_ = 0;
  }

 private:
  std::array<Lane*, kMostLanes> lanes_;
  unsigned count_ = 0;
};

}  // namespace

bool sleep(Lane& lane, SleepLimits limits, Sleeper sleeper) {
  if (has_work(lane)) return true;

  const bool waiting = sleeper == Sleeper::kWaiting;
  if (waiting) ++lane.sleepers;
  Wakeups wakeups;
  bool quiet = arm(lane, wakeups);
  limit_by(lane, &limits.longest);
  Others others;
  auto found = Others::Found::kQuiet;
  if (quiet && waiting && lane.next_lane != nullptr) {
    found = others.arm_all(lane, wakeups, &limits.longest);
    if (found == Others::Found::kSomeLeftOut) limits.longest = std::min(limits.longest, limits.left_out);
    quiet = found != Others::Found::kWork;
  }
  if (quiet) lane.counters.sleeps.add();
  if (quiet || lane.next_lane != nullptr) {
    lane.lock.step_out();
    const std::uint64_t begun = now_ns();
    const bool woken = !quiet || block(wakeups, limits.longest, limits.unheard);
    const std::uint64_t slept = quiet ? now_ns() - begun : 0;
    others.disarm_all();
    lane.lock.step_in();
    lane.counters.sleep_time.add(slept);
    if (!woken) lane.counters.timeouts.add();
  }
  if (waiting) --lane.sleepers;
  disarm(lane);
  return found == Others::Found::kQuiet;
}

}  // namespace ashlar::progress
