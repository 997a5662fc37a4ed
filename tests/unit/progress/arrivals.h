#pragma once
#include <atomic>
#include <thread>

#include "framework/base/clock.h"

namespace ashlar::test {

/// A thread that stands for a peer: it makes one event arrive each time that one is wanted, after a delay that differs
/// from one to the next, so that arrivals hit every step between a poll and the sleep. A missed wake-up costs the
/// longest sleep, so time_bound() shows whether there was one.
class Arrivals {
 public:
  /// `arrive(i)` is called for i = 1 ... `count`, in the thread.
  template <class Arrive>
  Arrivals(unsigned count, Arrive arrive)
      : count_(count), peer_([this, arrive] {
          for (unsigned i = 1; i <= count_; ++i) {
            while (wanted_.load() < i) pause();
            for (unsigned n = i % 64; n-- > 0;) pause();
            arrive(i);
          }
        }) {}
  ~Arrivals() { peer_.join(); }
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  /// Requests each event in turn; `wait(i)` returns when the i-th is there.
  template <class Wait>
  void await_each(Wait wait) {
    for (unsigned i = 1; i <= count_; ++i) {
      wanted_ = i;
      wait(i);
    }
  }
  bool in_time() const { return now_ns() - begin_ < count_ * std::uint64_t{25'000'000}; }

 private:
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  const unsigned count_;
  const std::uint64_t begin_ = now_ns();
  std::atomic<unsigned> wanted_{0};
  std::thread peer_;  // last: it uses the others
};

}  // namespace ashlar::test
