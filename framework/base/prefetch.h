#pragma once

namespace ashlar {

/// Prefetches the cache line of `place` for writing. It never faults; processors without the instruction do nothing.
/// Of a line that another processor has just read, the store that follows would otherwise wait until that one's copy
/// is gone.
inline void prefetch_to_write(const void* place) {
#if defined(__x86_64__)
  // What the builtin becomes only for processors that are newer than ours.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(place)));
#else
  __builtin_prefetch(place, 1);
#endif
}

}  // namespace ashlar
