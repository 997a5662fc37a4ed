#pragma once
#include <cstdint>
#include <ctime>

namespace ashlar {

/// Nanoseconds of the monotonic clock; the same clock for every process of a node.
inline std::uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

/// The processor's counter where there is one that costs less than the clock; the rate differs from machine to machine.
inline std::uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return now_ns();
#endif
}

}  // namespace ashlar
