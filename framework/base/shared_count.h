#pragma once
#include <cstdint>

#include "framework/base/lane_lock.h"
#include "framework/base/sanitizers.h"

namespace ashlar {

/// Adds to a word that no other thread writes at that time, and that tools may read on any: as Counter does.
inline void count_alone(std::uint64_t& word, std::uint64_t by = 1) {
#if defined(__x86_64__) && !defined(ASHLAR_TSAN)
  asm("addq %1, %0" : "+m"(word) : "er"(by) : "cc");
#else
  __atomic_store_n(&word, word + by, __ATOMIC_RELAXED);
#endif
}

/// `by` more of something that threads count on several lanes at once. Without threads a plain addition.
inline void count_shared(std::uint64_t& counter, std::uint64_t by = 1) {
  if (LaneLock::threads_on()) [[unlikely]] {
    __atomic_fetch_add(&counter, by, __ATOMIC_RELAXED);
  } else {
    count_alone(counter, by);
  }
}

/// Sets a flag that threads on several lanes look at. True for the one that was first.
inline bool first_to_set(bool& flag) { return !__atomic_exchange_n(&flag, true, __ATOMIC_RELAXED); }
inline bool is_set(const bool& flag) { return __atomic_load_n(&flag, __ATOMIC_RELAXED); }

}  // namespace ashlar
