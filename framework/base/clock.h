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

/// One moment on both clocks.
struct Moment {
  std::uint64_t ticks, ns;
};
/// The process may lose its core between the two, so of several pairs it is the one that took least.
inline Moment moment_now() {
  Moment best{};
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = ticks(), ns = now_ns(), took = ticks() - before;
    if (took >= least) continue;
    least = took;
    best = {.ticks = before + took / 2, .ns = ns};
  }
  return best;
}

}  // namespace ashlar
