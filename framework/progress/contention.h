#pragma once
#include <algorithm>
#include <cstdint>

#include "framework/progress/config.h"

namespace ashlar::progress {

/// Whether processes outside the job compete for this core, found out by the clock around yields: a yield that lasts
/// longer than the job's other ranks need has given a whole time slice to a competitor. Waits then sleep at once
/// instead of yielding, until a yield is tried again.
///
/// The times of the tries are multiples of the interval between them, so that all processes of a node try together: a
/// yield beside ranks that sleep and are woken for every message is long as well, and a process that tried alone would
/// never find it short. The interval doubles from one failed try to the next. Measurements:
/// docs/decisions/0046-competing-processes.md.
class Contention {
 public:
  /// Whether a wait is better off asleep than yielding.
  bool found(std::uint64_t now) const { return now < retry_at_; }

  /// Whether the next yield has to be timed. Where yields follow each other closely a look at the processor's counter
  /// after each tells that none was long, for a quarter of what two looks at the clock cost.
  bool watching() const { return watching_; }

  /// After a yield that was not timed, with what `ticks` says.
  void returned(std::uint64_t at) {
    watching_ = at - returned_at_ > kSurelyShort;
    returned_at_ = at;
  }

  /// After a yield from `left` to `back`, in nanoseconds of the clock. True when it was a long one.
  bool yielded(std::uint64_t left, std::uint64_t back, const Config& config) {
    if (back - left <= (config.oversubscribed ? config.long_yield_oversubscribed : config.long_yield)) [[likely]] {
      if (++short_in_a_row_ == kShortAgain) interval_ = 0;
      watching_ = interval_ != 0;
      return false;
    }
    short_in_a_row_ = 0;
    watching_ = true;
    const std::uint64_t least = config.oversubscribed ? config.yield_retry_oversubscribed : config.yield_retry;
    interval_ = least == 0 ? 0 : std::max(least, std::min(2 * interval_, config.yield_retry_most));
    retry_at_ = interval_ == 0 ? 0 : (back / interval_ + 1) * interval_;
    return true;
  }

 private:
  // One short yield says little: the core may have gone to another rank, with the competitor next in the queue.
  static constexpr std::uint32_t kShortAgain = 8;

  // In ticks: nanoseconds, or cycles of a processor's counter, which has about 1 to 5 of them in a nanosecond.
  static constexpr std::uint64_t kSurelyShort = 200'000;

  std::uint64_t returned_at_ = 0;
  bool watching_ = false;
  std::uint64_t retry_at_ = 0;
  std::uint64_t interval_ = 0;  // between the last long yield and the next try, at most; 0: yields are short
  std::uint32_t short_in_a_row_ = 0;
};

}  // namespace ashlar::progress
