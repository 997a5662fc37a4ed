#include "components/transport/shm/sleeper.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "components/transport/shm/layout.h"
#include "components/transport/shm/wake_socket.h"
#include "framework/base/process_barrier.h"

namespace ashlar::shm {
namespace {

void wake_by_word(SegmentHeader& header) { syscall(SYS_futex, &header.wake, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

[[gnu::cold, gnu::noinline]] void wake_by_both(SegmentHeader& header, WakeSocket& socket) {
  wake_by_word(header);
  if (!socket.send_to(header.nonce)) header.unreachable.store(1, std::memory_order_relaxed);
}

// The flag goes first and the word changes after it. The other way round an owner could read the changed word, arm, and
// have its flag cleared by the same raise before it is in the futex: it would sleep on a word that does not change any
// more.
void raise_sleeper(SegmentHeader& header, WakeSocket& socket) {
  const std::uint32_t before = header.sleeping.exchange(kAwake, std::memory_order_seq_cst);
  if (before == kAwake) return;  // another sender raises
  header.wake.fetch_add(1, std::memory_order_seq_cst);
  if ((before & kForDescriptors) != 0) [[unlikely]]
    return wake_by_both(header, socket);
  wake_by_word(header);
}

}  // namespace

void raise(SegmentHeader& header, WakeSocket& socket) {
  const std::uint32_t sleeping = header.sleeping.load(std::memory_order_relaxed) & kSleepState;
  if (sleeping != kAwake && sleeping != kDormant) raise_sleeper(header, socket);
}

void raise_always(SegmentHeader& header, WakeSocket& socket) {
  // For an owner that has read the word and is about to arm; one that has armed is raised as by a message.
  header.wake.fetch_add(1, std::memory_order_seq_cst);
  full_fence();
  if (header.sleeping.load(std::memory_order_relaxed) != kAwake) raise_sleeper(header, socket);
}

}  // namespace ashlar::shm
