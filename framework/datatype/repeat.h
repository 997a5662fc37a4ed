#pragma once
#include <atomic>
#include <cstddef>
#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/// Copies of some KiB to memory that is not in the cache. The processor's string move writes whole lines without
/// reading them first, where it is good at that; memcpy turns to it only for longer ones.
namespace ashlar::datatype {

inline constexpr std::size_t kRepeatFrom = 2048;         // shorter ones are over before it has started
inline constexpr std::size_t kRepeatBelow = 128 * 1024;  // from here on memcpy knows better

namespace detail {

inline constinit std::atomic<int> repeats{0};  // 1: well, -1: not so well, 0: nobody has asked yet

[[gnu::cold, gnu::noinline]] inline int find_out_repeats() {
  int answer = -1;
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // "Enhanced rep movsb". Others than Intel have the flag too, but are slow for some alignments.
  constexpr unsigned kEnhanced = 1u << 9;
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool intel = __get_cpuid(0, &a, &b, &c, &d) != 0 && b == signature_INTEL_ebx && d == signature_INTEL_edx &&
                     c == signature_INTEL_ecx;
  if (intel && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kEnhanced) != 0) answer = 1;
#endif
  repeats.store(answer, std::memory_order_relaxed);
  return answer;
}

}  // namespace detail

/// memcpy for data that is spread over memory, some KiB here and some there.
inline void spread(char* to, const char* from, std::size_t n) {
#if defined(__x86_64__)
  if (n - kRepeatFrom < kRepeatBelow - kRepeatFrom) {
    int well = detail::repeats.load(std::memory_order_relaxed);
    if (well == 0) [[unlikely]]
      well = detail::find_out_repeats();
    if (well > 0) {
      asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
      return;
    }
  }
#endif
  std::memcpy(to, from, n);
}

}  // namespace ashlar::datatype
