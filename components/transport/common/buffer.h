#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "components/transport/common/fabric.h"

namespace ashlar::network {

struct Endpoint;

/// What the library has until its end is told.
struct Operation {
  enum class What : std::uint8_t { kSend, kReceive, kRead, kPut, kTag, kTrial };

  alignas(16) std::byte library[64] = {};  // the library's; first, as some name an operation by it
  What what = What::kSend;
  Endpoint* peer = nullptr;
};

/// Memory for one frame, sent or received, or for a tagged message.
struct Buffer : Operation {
  Buffer* next = nullptr;
  bool tagged = false;
  std::uint64_t tag = 0, data = 0;  // of a tagged message; data: tagged.h
  std::uint32_t length = 0, capacity = 0;
  std::uint32_t holds = 0;      // of a receive buffer: the library's, and those of frames in it that are not delivered
  void* description = nullptr;  // of its memory, for the library
  std::byte* bytes = nullptr;
  class BufferPool* pool = nullptr;

  /// Nothing is known yet of its `bytes`, at least a frame's, but that the last ones are 0 where nothing is put there.
  void end_at(std::size_t end) {
    length = static_cast<std::uint32_t>(end);
    std::memset(bytes + end - kFrameAlignment, 0, kFrameAlignment);
  }
  Frame& frame() { return *reinterpret_cast<Frame*>(bytes); }
  std::byte* payload() { return bytes + sizeof(Frame); }
};

/// Buffers of one size. It grows by slabs, each of which is known to the library where that asks for it.
class BufferPool {
 public:
  BufferPool(Fabric& fabric, std::size_t capacity, std::size_t in_slab);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// nullptr: no memory, or the library cannot use it.
  Buffer* take();
  void give_back(Buffer& buffer) {
    buffer.next = free_;
    free_ = &buffer;
  }

 private:
  struct Slab {
    std::unique_ptr<std::byte[]> memory;
    std::unique_ptr<Buffer[]> buffers;
    Registration known;
  };
  bool grow();

  Fabric& fabric_;
  const std::size_t capacity_, in_slab_;
  Buffer* free_ = nullptr;
  std::vector<Slab> slabs_;
};

/// Buffers one after the other.
class BufferQueue {
 public:
  bool empty() const { return first_ == nullptr; }
  Buffer* first() const { return first_; }
  void push(Buffer& buffer) {
    buffer.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &buffer;
    last_ = &buffer;
  }
  /// The first one has gone; `next` was the one after it.
  void drop_first(Buffer* next) { first_ = next; }
  Buffer* pop() {
    Buffer* const buffer = first_;
    if (buffer != nullptr) first_ = buffer->next;
    return buffer;
  }

 private:
  Buffer* first_ = nullptr;
  Buffer* last_ = nullptr;
};

}  // namespace ashlar::network
