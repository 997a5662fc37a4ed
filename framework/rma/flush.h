#pragma once
#include <atomic>

#include "framework/rma/aim.h"
#include "framework/rma/api.h"
#include "framework/rma/rounds.h"
#include "framework/rma/window.h"

/// Flushes of which nothing is left to do. Most are: operations on mapped memory are complete when they return. Such a
/// flush takes less time than a call into the library, so entry points have it in line.
namespace ashlar::rma {

/// Whether a flush has nothing to wait for and nothing to find out.
inline bool is_quiet(const RmaWindow& window) {
  return window.passive_to_all && !window.any_outstanding && window.check == nullptr;
}

/// Loads and stores are complete; they are ordered before and after what follows.
inline Status nothing_outstanding(RmaWindow& window) {
  std::atomic_thread_fence(std::memory_order_acq_rel);
  count_call(window);
  return {};
}

/// win_flush and win_flush_all.
inline Status flush_in_line(int rank, Window& win) {
  RmaWindow& window = of(win);
  const bool known = static_cast<std::uint32_t>(rank) < static_cast<std::uint32_t>(window.ranks);
  if (known && is_quiet(window)) [[likely]]
    return nothing_outstanding(window);
  return win_flush(rank, win);
}
inline Status flush_all_in_line(Window& win) {
  RmaWindow& window = of(win);
  if (is_quiet(window)) [[likely]]
    return nothing_outstanding(window);
  return win_flush_all(win);
}

}  // namespace ashlar::rma
