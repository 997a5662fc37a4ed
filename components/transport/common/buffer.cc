#include "components/transport/common/buffer.h"

#include <new>

namespace ashlar::network {
namespace {

constexpr std::size_t kLine = 64;

}  // namespace

BufferPool::BufferPool(Fabric& fabric, std::size_t capacity, std::size_t in_slab)
    : fabric_(fabric), capacity_((capacity + kLine - 1) / kLine * kLine), in_slab_(in_slab) {}

BufferPool::~BufferPool() {
  for (Slab& slab : slabs_) fabric_.delist(slab.known);
}

Buffer* BufferPool::take() {
  if (free_ == nullptr && !grow()) return nullptr;
  Buffer* const buffer = free_;
  free_ = buffer->next;
  buffer->next = nullptr;
  buffer->tagged = false;
  return buffer;
}

bool BufferPool::grow() {
  Slab slab;
  const std::size_t bytes = capacity_ * in_slab_;
  slab.memory.reset(new (std::nothrow) std::byte[bytes + kLine]);
  slab.buffers.reset(new (std::nothrow) Buffer[in_slab_]);
  if (slab.memory == nullptr || slab.buffers == nullptr) return false;
  const auto odd = reinterpret_cast<std::uintptr_t>(slab.memory.get()) % kLine;
  std::byte* const first = slab.memory.get() + (odd == 0 ? 0 : kLine - odd);
  if (!fabric_.enlist(first, bytes, Fabric::kFrames, &slab.known)) return false;
  for (std::size_t i = in_slab_; i-- > 0;) {
    Buffer& buffer = slab.buffers[i];
    buffer.bytes = first + i * capacity_;
    buffer.capacity = static_cast<std::uint32_t>(capacity_);
    buffer.description = slab.known.description;
    buffer.pool = this;
    give_back(buffer);
  }
  slabs_.push_back(std::move(slab));
  return true;
}

}  // namespace ashlar::network
