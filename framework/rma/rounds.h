#pragma once
#include <atomic>
#include <cstdint>

#include "framework/rma/window.h"

namespace ashlar::rma {

/// Programs flush and lock in loops that wait for what another process does, and that one may wait for an operation
/// which is asked of this process. So now and then calls that have nothing to wait for make a round of progress, and
/// others get the core.
inline constexpr std::uint32_t kCallsOfRound = 256;

/// Apart, so that a call which makes none saves no registers.
void make_round(RmaWindow& window);

/// Counts a call. Whether it should make a round.
inline bool round_is_due(RmaWindow& window) {
  const std::uint32_t calls = window.calls_without_wait.load(std::memory_order_relaxed) + 1;
  window.calls_without_wait.store(calls, std::memory_order_relaxed);
  return calls % kCallsOfRound == 0;
}
inline void count_call(RmaWindow& window) {
  if (round_is_due(window)) [[unlikely]]
    make_round(window);
}

}  // namespace ashlar::rma
