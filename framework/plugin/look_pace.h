#pragma once
#include <cstdint>

#include "framework/base/clock.h"

namespace ashlar::plugin {

/// When a transport looks for arrivals whose look costs a system call. Just after something has happened every round of
/// progress looks; then the looks are `interval` apart, and the clock is read in some of the rounds only. Where many
/// looks were in vain since anything was sent or came, they are four intervals apart: those who wait for a process of
/// their node would else pay a system call of 0.4 us in each 10 us. While much is on its way, looks for every bit of it
/// cost more than the bits: then there is a pause before the next look.
class LookPace {
 public:
  /// `every_round`: rounds take long, so each one reads the clock.
  void set(std::uint64_t interval, bool every_round) {
    interval_ = interval;
    rounds_apart_ = every_round ? 1 : 4;
  }
  /// Something has happened, or is about to.
  void heat() {
    hot_ = kHotLooks;
    quiet_ = 0;
  }
  /// Something was sent, and may be answered.
  void expect() { quiet_ = 0; }
  std::uint32_t round() const { return round_; }
  std::uint64_t clock() const { return clock_; }  // of the last look

  void begin_round() { ++round_; }
  /// No look before `ns` have gone since the last one.
  void pause(std::uint64_t ns) { pause_ = ns; }
  bool due() {
    if (pause_ != 0) [[unlikely]] {
      if (now_ns() - clock_ < pause_) return false;
      pause_ = 0;
      return true;
    }
    if (hot_ > 0) {
      --hot_;
      return true;
    }
    if (interval_ != 0 && round_ % rounds_apart_ != 0) return false;
    return now_ns() - clock_ >= (quiet_ < kQuietLooks ? interval_ : kQuietIntervals * interval_);
  }
  void begin_look() {
    clock_ = now_ns();
    ++quiet_;
  }

 private:
  static constexpr unsigned kHotLooks = 300;
  // Each hot look counts, too: at the default interval the pace falls after a millisecond.
  static constexpr std::uint32_t kQuietLooks = kHotLooks + 100;
  static constexpr std::uint64_t kQuietIntervals = 4;

  unsigned hot_ = 0;
  std::uint32_t quiet_ = 0;  // looks since something was sent or came
  std::uint32_t round_ = 0, rounds_apart_ = 4;
  std::uint64_t interval_ = 0, clock_ = 0, pause_ = 0;
};

}  // namespace ashlar::plugin
