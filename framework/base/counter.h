#pragma once
#include <cstdint>

#include "framework/base/sanitizers.h"

namespace ashlar {

/// A word of a performance variable. One thread at a time writes it, the holder of the lock that guards its block; any
/// thread, and any signal handler, reads it at any time. Writing costs one instruction, and no bus lock.
class Counter {
 public:
  constexpr Counter() = default;
  constexpr explicit Counter(std::uint64_t value) : value_(value) {}

  void add(std::uint64_t n = 1) {
#if defined(__x86_64__) && !defined(ASHLAR_TSAN)
    // One aligned read-modify-write, which no reader sees half done. The compiler makes three of load, add and store.
    asm("addq %1, %0" : "+m"(value_) : "er"(n) : "cc");
#else
    __atomic_store_n(&value_, value_ + n, __ATOMIC_RELAXED);
#endif
  }
  void subtract(std::uint64_t n = 1) { add(-n); }
  void set(std::uint64_t value) { __atomic_store_n(&value_, value, __ATOMIC_RELAXED); }
  std::uint64_t get() const { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }
  operator std::uint64_t() const { return get(); }

 private:
  std::uint64_t value_ = 0;
};

/// A level and the most that it has been. A tool may set the mark back to the level (plugin/pvars.h), on another
/// thread: a rise at that very moment counts for the time before.
struct MarkedLevel {
  void raise(std::uint64_t n = 1) {
    now.add(n);
    if (now.get() > most.get()) most.set(now.get());
  }
  void lower(std::uint64_t n = 1) { now.subtract(n); }

  Counter now, most;
};

}  // namespace ashlar
