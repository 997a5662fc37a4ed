#pragma once
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "framework/base/lane_lock.h"
#include "framework/base/list.h"
#include "framework/base/status.h"

namespace ashlar::p2p {

class SendBuffer;

/// One message in a buffer, in front of its packed bytes. Lies in the user's memory.
struct alignas(std::max_align_t) BufferedMessage
    : ListHook {  // hook: the messages of a buffer in the order in which they were stored
  BufferedMessage *below = nullptr,
                  *above = nullptr;  // neighbours by address; messages of an automatic buffer have none
  SendBuffer* owner = nullptr;
  std::uint64_t number = 0;  // counts the messages of a buffer
  std::size_t bytes = 0;     // of the packed message
  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
  std::byte* end() { return data() + bytes; }
};
inline constexpr std::size_t kBufferAlignment = alignof(std::max_align_t);
static_assert(sizeof(BufferedMessage) % kBufferAlignment == 0, "packed bytes start aligned");
// What the standard promises to users: packed size + MPI_BSEND_OVERHEAD is enough for a message, wherever it starts.
static_assert(sizeof(BufferedMessage) + 2 * kBufferAlignment <= MPI_BSEND_OVERHEAD);

/// Where buffered sends keep messages until they leave: memory that the user attached, or, automatic, memory of our own
/// without limit. Of a process, a communicator or a session; at most one memory is attached at a time.
/// A message takes the next gap behind the one stored last, then the gaps from the start: never worse than the circular
/// queue of MPI-5.0, 3.6.1, because gaps in the middle count as well.
/// Any thread; its own lock is taken after the lock of a lane.
class SendBuffer {
 public:
  ~SendBuffer();
  /// MPI_ERR_BUFFER when something is attached already. `memory` may be MPI_BUFFER_AUTOMATIC.
  Status attach(void* memory, MPI_Count bytes);
  /// The memory attached, or nullptr and 0; nothing is attached afterwards. The buffer is empty.
  void detach(void** memory, MPI_Count* bytes);
  bool attached() const { return attached_.load(std::memory_order_relaxed); }

  /// Room for `bytes` packed bytes, or nullptr.
  BufferedMessage* reserve(std::size_t bytes);
  void give_back(BufferedMessage* message);

  /// The number that the next message will have, and whether all below that number have left.
  std::uint64_t next_number() const { return next_number_.load(std::memory_order_relaxed); }
  bool left(std::uint64_t number) const { return oldest_.load(std::memory_order_acquire) >= number; }
  bool empty() const { return left(next_number()); }

  /// Why reserve(bytes) failed, with the numbers.
  Status refusal(const char* call, std::size_t bytes);

 private:
  BufferedMessage* reserve_in_gap(std::byte* from, std::byte* to, BufferedMessage* below, std::size_t bytes)
      ASHLAR_REQUIRES(lock_);
  void enter(BufferedMessage* message, std::size_t bytes) ASHLAR_REQUIRES(lock_);

  mutable LaneLock lock_;
  std::atomic<bool> attached_{false};
  bool automatic_ ASHLAR_GUARDED_BY(lock_) = false;
  std::byte* memory_ ASHLAR_GUARDED_BY(lock_) = nullptr;
  MPI_Count bytes_ ASHLAR_GUARDED_BY(lock_) = 0;
  BufferedMessage* lowest_ ASHLAR_GUARDED_BY(lock_) = nullptr;
  std::byte* tail_ ASHLAR_GUARDED_BY(lock_) = nullptr;  // end of the message stored last, even if it has left
  BufferedMessage* below_tail_ ASHLAR_GUARDED_BY(lock_) = nullptr;
  List<BufferedMessage> in_order_ ASHLAR_GUARDED_BY(lock_);
  std::uint64_t held_ ASHLAR_GUARDED_BY(lock_) = 0, held_bytes_ ASHLAR_GUARDED_BY(lock_) = 0;
  std::atomic<std::uint64_t> next_number_{1}, oldest_{1};
};

}  // namespace ashlar::p2p
