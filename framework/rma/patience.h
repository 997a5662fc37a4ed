#pragma once
#include <atomic>
#include <cstdint>

namespace ashlar::rma {

/// The stages of a wait for another process that is inside an update: spin, yield the core, sleep. Such a wait is short
/// unless that process has lost its core, so no stage makes progress.
class Patience {
 public:
  explicit Patience(std::uint32_t sleep_ns = kSleepNs) : sleep_ns_(sleep_ns) {}
  /// One round of waiting for `word` to change from `seen`. A round that sleeps ends after `sleep_ns` at the latest,
  /// even if no process wakes it; after a sleep the wait spins again. Returns whether it slept.
  bool round(std::atomic<std::uint32_t>& word, std::uint32_t seen);
  /// Whether the next round sleeps: the caller says so in the word first, so that it is woken.
  bool about_to_sleep() const { return rounds_ >= kSpins + kYields; }

  static constexpr std::uint32_t kSpins = 200;
  static constexpr std::uint32_t kYields = 50;
  static constexpr std::uint32_t kSleepNs = 1'000'000;
  static constexpr std::uint32_t kUnwokenNs = 20'000;  // where no process wakes

 private:
  const std::uint32_t sleep_ns_;
  std::uint32_t rounds_ = 0;
};

/// Wakes the processes that sleep in Patience::round() on `word`, at most `most` of them.
void wake(std::atomic<std::uint32_t>& word, int most);

/// Gives the processor's sibling a little time.
inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace ashlar::rma
