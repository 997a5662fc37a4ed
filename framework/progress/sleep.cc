#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "framework/base/clock.h"
#include "framework/progress/waiting.h"

namespace ashlar::progress {
namespace {

// Where a peer can only be seen by looking, or a wake-up has no common form with the others.
constexpr std::uint64_t kShortSleep = 1'000'000;

// Nobody tells when a full ring of a peer has room again.
constexpr std::uint64_t kUntilRoom = 100'000;

/// What a sleeping thread can be woken by, read before the transports are armed.
struct Wakeups {
  struct Word {
    std::uint32_t* at;
    std::uint32_t value;
  };
  std::array<Word, Lane::kMaxIfaces + 1> words;
  std::array<pollfd, Lane::kMaxIfaces> fds;
  unsigned word_count = 0, fd_count = 0;
  bool blind = false;  // something has neither

  void add_word(std::uint32_t* at) { words[word_count++] = {at, __atomic_load_n(at, __ATOMIC_SEQ_CST)}; }
  void add_iface(ashlar_iface* iface) {
    std::uint32_t* const word = iface->ops->wake_word ? iface->ops->wake_word(iface) : nullptr;
    if (word != nullptr) {
      add_word(word);
      return;
    }
    const int fd = iface->ops->wake_fd ? iface->ops->wake_fd(iface) : -1;
    if (fd < 0) {
      blind = true;
    } else {
      fds[fd_count++] = pollfd{fd, POLLIN, 0};
    }
  }
};

timespec to_timespec(std::uint64_t ns) {
  timespec t;
  t.tv_sec = static_cast<time_t>(ns / 1'000'000'000u);
  t.tv_nsec = static_cast<long>(ns % 1'000'000'000u);
  return t;
}

void sleep_on_one(const Wakeups::Word& word, std::uint64_t ns) {
  const timespec timeout = to_timespec(ns);
  syscall(SYS_futex, word.at, FUTEX_WAIT, word.value, &timeout, nullptr, 0);
}

void sleep_on_words(const Wakeups& wakeups, std::uint64_t ns) {
#ifdef SYS_futex_waitv
  std::array<futex_waitv, Lane::kMaxIfaces + 1> list = {};
  for (unsigned i = 0; i < wakeups.word_count; ++i) {
    list[i].val = wakeups.words[i].value;
    list[i].uaddr = reinterpret_cast<std::uintptr_t>(wakeups.words[i].at);
    list[i].flags = FUTEX_32;
  }
  const timespec deadline = to_timespec(now_ns() + ns);
  if (syscall(SYS_futex_waitv, list.data(), wakeups.word_count, 0, &deadline, CLOCK_MONOTONIC) >= 0) return;
  if (errno != ENOSYS && errno != EPERM) return;
#endif
  sleep_on_one(wakeups.words[0], std::min(ns, kShortSleep));
}

void block(Wakeups& wakeups, std::uint64_t ns) {
  if (wakeups.blind || (wakeups.fd_count != 0 && wakeups.word_count != 0)) ns = std::min(ns, kShortSleep);
  if (wakeups.fd_count != 0) {
    const timespec timeout = to_timespec(ns);
    ppoll(wakeups.fds.data(), wakeups.fd_count, &timeout, nullptr);
  } else if (wakeups.word_count == 1) {
    sleep_on_one(wakeups.words[0], ns);
  } else if (wakeups.word_count > 1) {
    sleep_on_words(wakeups, ns);
  } else {
    const timespec pause = to_timespec(ns);
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

void sleep(Lane& lane, std::uint64_t limit_ns, Sleeper who) {
  if (lane.self_busy || !lane.ready.empty()) return;
  if (!lane.stalled.empty()) limit_ns = std::min(limit_ns, kUntilRoom);

  Wakeups wakeups;
  if (LaneLock::threads_on()) wakeups.add_word(&lane.wake_word);
  for (unsigned i = 0; i < lane.iface_count; ++i) wakeups.add_iface(lane.ifaces[i]);

  // The order matters: read the words, arm, look once more, sleep. Whatever arrives after the look changes a word.
  const bool waiting = who == Sleeper::kWaiting;
  if (waiting) ++lane.sleepers;
  ++lane.armed;
  bool quiet = true;
  unsigned armed = 0;
  while (armed < lane.iface_count && quiet) {
    quiet = lane.ifaces[armed]->ops->arm(lane.ifaces[armed]) == ASHLAR_OK;
    ++armed;
  }
  if (quiet && poll(lane) == 0) {
    ++lane.counters.sleeps;
    lane.lock.unlock();
    block(wakeups, limit_ns);
    lane.lock.lock();
  }
  if (waiting) --lane.sleepers;
  if (--lane.armed == 0) {
    while (armed-- > 0) lane.ifaces[armed]->ops->disarm(lane.ifaces[armed]);
  }
}

}  // namespace ashlar::progress
