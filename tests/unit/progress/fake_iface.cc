#include "tests/unit/progress/fake_iface.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <climits>

namespace ashlar::test {

void FakeIface::arrive() {
  ++news;
  if (!armed) return;
  if (descriptor >= 0) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(descriptor, &one, sizeof one);
  }
  if (!by_word) return;
  __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace ashlar::test
