#pragma once
#include <cstdint>

#include "framework/base/clock.h"

namespace ashlar::plugin {

/// When a transport looks for arrivals whose look costs a system call. Just after something has happened every round of
/// progress looks; then the looks are `interval` apart, and the clock is read in some of the rounds only.
class LookPace {
 public:
  /// `every_round`: rounds take long, so each one reads the clock.
  void set(std::uint64_t interval, bool every_round) {
    interval_ = interval;
    rounds_apart_ = every_round ? 1 : 4;
  }
  /// Something has happened, or is about to.
  void heat() { hot_ = kHotLooks; }
  std::uint32_t round() const { return round_; }
  std::uint64_t clock() const { return clock_; }  // of the last look

  void begin_round() { ++round_; }
  bool due() {
    if (hot_ > 0) {
      --hot_;
      return true;
    }
    if (interval_ != 0 && round_ % rounds_apart_ != 0) return false;
    return now_ns() - clock_ >= interval_;
  }
  void begin_look() { clock_ = now_ns(); }

 private:
  static constexpr unsigned kHotLooks = 300;

  unsigned hot_ = 0;
  std::uint32_t round_ = 0, rounds_apart_ = 4;
  std::uint64_t interval_ = 0, clock_ = 0;
};

}  // namespace ashlar::plugin
