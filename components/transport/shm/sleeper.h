#pragma once
#include <atomic>
#include <cstdint>

namespace ashlar::shm {

struct SegmentHeader;

/// Registers this process as one that membarrier reaches. False: the system has none (old kernel, seccomp); then this
/// process orders its own "publish, then look whether the receiver sleeps", and asks its peers to do so towards it.
bool register_for_barriers();

/// Makes every registered process pass a full memory fence. The sleeper pays, so that senders need none.
void barrier_everywhere();

/// Orders this thread's earlier stores before its later loads. Not std::atomic_thread_fence, which the thread sanitizer
/// does not know.
inline void full_fence() {
#if defined(__x86_64__)
  asm volatile("lock orl $0, (%%rsp)" ::: "memory", "cc");
#else
  __sync_synchronize();
#endif
}

/// Wakes the owner of `header` when it sleeps. Message path only when it does.
void raise(SegmentHeader& header);

/// Makes the owner look again, whether it sleeps or is about to.
void raise_always(SegmentHeader& header);

}  // namespace ashlar::shm
