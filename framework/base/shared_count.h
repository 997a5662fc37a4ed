#pragma once
#include <cstdint>

#include "framework/base/lane_lock.h"

namespace ashlar {

/// `by` more of something that threads count on several lanes at once. Without threads a plain addition.
inline void count_shared(std::uint64_t& counter, std::uint64_t by = 1) {
  if (LaneLock::threads_on()) [[unlikely]] {
    __atomic_fetch_add(&counter, by, __ATOMIC_RELAXED);
  } else {
    counter += by;
  }
}

/// Sets a flag that threads on several lanes look at. True for the one that was first.
inline bool first_to_set(bool& flag) { return !__atomic_exchange_n(&flag, true, __ATOMIC_RELAXED); }
inline bool is_set(const bool& flag) { return __atomic_load_n(&flag, __ATOMIC_RELAXED); }

}  // namespace ashlar
