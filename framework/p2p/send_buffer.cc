#include "framework/p2p/send_buffer.h"

#include <cstdlib>
#include <new>

#include "framework/base/failure.h"

namespace ashlar::p2p {
namespace {

std::byte* aligned(std::byte* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return p + (kBufferAlignment - address % kBufferAlignment) % kBufferAlignment;
}

}  // namespace

SendBuffer::~SendBuffer() {
  // Only an automatic buffer owns memory, and only a job that ends badly leaves messages in it.
  if (!automatic_) return;
  while (BufferedMessage* message = in_order_.pop_front()) std::free(message);
}

Status SendBuffer::attach(void* memory, MPI_Count bytes) {
  const LaneGuard guard(lock_);
  if (attached())
    return automatic_ ? fail(MPI_ERR_BUFFER, "buffered.automatic")
                      : fail(MPI_ERR_BUFFER, "buffered.attached", {{"bytes", bytes_}});
  automatic_ = memory == MPI_BUFFER_AUTOMATIC;
  if (!automatic_ && memory == nullptr && bytes > 0) return fail(MPI_ERR_BUFFER, "buffered.null", {{"bytes", bytes}});
  memory_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  lowest_ = below_tail_ = nullptr;
  tail_ = memory_;
  attached_.store(true, std::memory_order_relaxed);
  return {};
}

void SendBuffer::detach(void** memory, MPI_Count* bytes) {
  const LaneGuard guard(lock_);
  *memory = memory_;
  *bytes = automatic_ ? 0 : bytes_;
  memory_ = nullptr;
  bytes_ = 0;
  automatic_ = false;
  attached_.store(false, std::memory_order_relaxed);
}

void SendBuffer::enter(BufferedMessage* message, std::size_t bytes) {
  message->owner = this;
  message->bytes = bytes;
  message->number = next_number_.load(std::memory_order_relaxed);
  in_order_.push_back(message);
  ++held_;
  held_bytes_ += bytes;
  next_number_.store(message->number + 1, std::memory_order_relaxed);
}

BufferedMessage* SendBuffer::reserve_in_gap(std::byte* from, std::byte* to, BufferedMessage* below, std::size_t bytes) {
  std::byte* const start = aligned(from);
  if (start > to || static_cast<std::size_t>(to - start) < sizeof(BufferedMessage) ||
      static_cast<std::size_t>(to - start) - sizeof(BufferedMessage) < bytes)
    return nullptr;
  auto* const message = new (start) BufferedMessage;
  message->below = below;
  message->above = below != nullptr ? below->above : lowest_;
  (below != nullptr ? below->above : lowest_) = message;
  if (message->above != nullptr) message->above->below = message;
  below_tail_ = message;
  enter(message, bytes);
  tail_ = message->end();
  return message;
}

BufferedMessage* SendBuffer::reserve(std::size_t bytes) {
  const LaneGuard guard(lock_);
  if (!attached()) return nullptr;
  if (automatic_) {
    void* const place = std::malloc(sizeof(BufferedMessage) + bytes);
    if (place == nullptr) return nullptr;
    auto* const message = new (place) BufferedMessage;
    enter(message, bytes);
    return message;
  }
  // Behind the message stored last, then all gaps in turn, at last the one around the tail as a whole.
  const auto end_of_gap = [this](BufferedMessage* below) ASHLAR_NO_THREAD_SAFETY {
    BufferedMessage* const above = below != nullptr ? below->above : lowest_;
    return above != nullptr ? reinterpret_cast<std::byte*>(above) : memory_ + bytes_;
  };
  BufferedMessage* below = below_tail_;
  if (BufferedMessage* const message = reserve_in_gap(tail_, end_of_gap(below), below, bytes)) return message;
  do {
    below = below != nullptr ? below->above : lowest_;
    std::byte* const from = below != nullptr ? below->end() : memory_;
    if (BufferedMessage* const message = reserve_in_gap(from, end_of_gap(below), below, bytes)) return message;
  } while (below != below_tail_);
  return nullptr;
}

void SendBuffer::give_back(BufferedMessage* message) {
  const LaneGuard guard(lock_);
  const bool was_oldest = in_order_.front() == message;
  List<BufferedMessage>::remove(message);
  --held_;
  held_bytes_ -= message->bytes;
  if (automatic_) {
    std::free(message);
  } else {
    (message->below != nullptr ? message->below->above : lowest_) = message->above;
    if (message->above != nullptr) message->above->below = message->below;
    if (below_tail_ == message) below_tail_ = message->below;
    if (lowest_ == nullptr) tail_ = memory_;
  }
  if (!was_oldest) return;
  BufferedMessage* const oldest = in_order_.front();
  oldest_.store(oldest != nullptr ? oldest->number : next_number(), std::memory_order_release);
}

Status SendBuffer::refusal(const char* call, std::size_t bytes) {
  const LaneGuard guard(lock_);
  if (!attached()) return fail(MPI_ERR_BUFFER, "buffered.none", {{"call", call}, {"bytes", bytes}});
  if (automatic_) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "a buffered message"}, {"bytes_wanted", bytes}});
  return fail(MPI_ERR_BUFFER, "buffered.full",
              {{"call", call},
               {"bytes", bytes},
               {"needed", bytes + MPI_BSEND_OVERHEAD},
               {"size", bytes_},
               {"count", held_},
               {"kept", held_bytes_}});
}

}  // namespace ashlar::p2p
