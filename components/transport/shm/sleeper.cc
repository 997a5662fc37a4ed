#include "components/transport/shm/sleeper.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "components/transport/shm/layout.h"

namespace ashlar::shm {

bool register_for_barriers() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 &&
         syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void barrier_everywhere() { syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0); }

void raise_always(SegmentHeader& header) {
  // The word changes first: an owner that read it before and is on its way into the futex does not fall asleep.
  header.wake.fetch_add(1, std::memory_order_seq_cst);
  if (header.sleeping.exchange(0, std::memory_order_seq_cst) != 0) {
    syscall(SYS_futex, &header.wake, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
}

void raise(SegmentHeader& header) {
  if (header.sleeping.load(std::memory_order_relaxed) != 0) raise_always(header);
}

}  // namespace ashlar::shm
