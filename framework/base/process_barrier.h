#pragma once
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

// Memory fences for pairs of "store, then load the other's word" between processes, of which one side is frequent and
// the other rare: the rare side fences both (decision 0022). In a header, so that components have it without the
// kernel.
namespace ashlar {

/// Orders this thread's earlier stores before its later loads. Not std::atomic_thread_fence, which the thread sanitizer
/// does not know.
inline void full_fence() {
#if defined(__x86_64__)
  asm volatile("lock orl $0, (%%rsp)" ::: "memory", "cc");
#else
  __sync_synchronize();
#endif
}

/// The same directly behind an atomic read-modify-write of std::memory_order_seq_cst, which is such a fence on some
/// processors.
inline void fence_after_atomic() {
#if defined(__x86_64__)
  asm volatile("" ::: "memory");
#else
  full_fence();
#endif
}

/// Registers this process as one that barrier_everywhere() of any process reaches. False: the system has none (kernels
/// before 4.16, seccomp). This process must then order its own stores and loads with full_fence(), and so must every
/// process that pairs with it. Idempotent. Any thread. Set-up path.
inline bool register_for_barriers() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 &&
         syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

/// Makes every thread of every registered process pass a full memory fence between two of its instructions, before this
/// returns; the caller passes one too. False: the system refuses it now (a filter that was set up after the
/// registration), and only the caller has passed one. Any thread. About 1 us.
inline bool barrier_everywhere() {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0) [[likely]]
    return true;
  full_fence();
  return false;
}

}  // namespace ashlar
