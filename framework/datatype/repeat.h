#pragma once
#include <atomic>
#include <cstddef>
#include <cstring>

/// Copies of some KiB to memory that is not in the cache. The processor's string move writes whole lines without
/// reading them first, where it is good at that; memcpy turns to it only for longer ones.
namespace ashlar::datatype {

inline constexpr std::size_t kRepeatFrom = 2048;         // shorter copies end before the string move has started
inline constexpr std::size_t kRepeatBelow = 128 * 1024;  // memcpy uses a string move of its own from here on

namespace detail {

extern constinit std::atomic<int> repeats;  // 1: fast, -1: slow, 0: not measured yet
int find_out_repeats();

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
