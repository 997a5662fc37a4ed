#include "framework/rma/patience.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace ashlar::rma {

bool Patience::round(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  ++rounds_;
  if (rounds_ <= kSpins) {
    pause_briefly();
    return false;
  }
  if (rounds_ <= kSpins + kYields) {
    sched_yield();
    return false;
  }
  const timespec longest{.tv_sec = 0, .tv_nsec = sleep_ns_};
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &longest, nullptr, 0);
  rounds_ = 0;
  return true;
}

void wake(std::atomic<std::uint32_t>& word, int most) {
  syscall(SYS_futex, &word, FUTEX_WAKE, most, nullptr, nullptr, 0);
}

}  // namespace ashlar::rma
