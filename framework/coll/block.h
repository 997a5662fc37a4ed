#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/base/counter.h"

namespace ashlar::coll {

/// Larger pieces of memory that blocks give back and take again, so that a program that repeats a collective with a
/// large temporary does not pay for fresh pages each time. One per communicator; guarded by its lane's lock.
class ChunkCache {
 public:
  struct Chunk {
    Chunk* next;
    std::size_t room;  // bytes behind this header
    std::byte* bytes() { return reinterpret_cast<std::byte*>(this) + kHeader; }
  };
  static constexpr std::size_t kHeader = 64;

  /// Keeps `keep` bytes at most; `level` counts what all caches of a lane keep.
  explicit ChunkCache(std::size_t keep = 8u << 20, MarkedLevel* level = nullptr) : keep_(keep), level_(level) {}
  ~ChunkCache();
  ChunkCache(const ChunkCache&) = delete;
  ChunkCache& operator=(const ChunkCache&) = delete;

  /// At least `room` bytes, 64-byte aligned; nullptr: no memory.
  Chunk* take(std::size_t room);
  void put(Chunk* chunk);
  std::size_t kept() const { return kept_; }

 private:
  Chunk* free_ = nullptr;
  std::size_t kept_ = 0;
  const std::size_t keep_;
  MarkedLevel* const level_;
};

/// The memory of one collective in flight: coroutine frames and temporaries, handed out in order and given back all at
/// once. Starts on memory of its owner (the caller's stack, or a slab's cell) and goes on in chunks.
class Block {
 public:
  Block(void* first, std::size_t bytes, ChunkCache& cache)
      : first_(static_cast<std::byte*>(first)),
        first_end_(first_ + bytes),
        at_(first_),
        end_(first_end_),
        cache_(cache) {}
  ~Block() {
    if (chunks_ != nullptr) [[unlikely]]
      reset();
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Uninitialised memory until reset(); nullptr: none left. Aligned for a cache line from 64 bytes on, else to 16.
  void* take(std::size_t bytes) {
    const std::size_t align = bytes >= 64 ? 64 : 16;
    const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(at_) + align - 1) & ~(align - 1);
    const std::uintptr_t to = from + bytes;
    if (to > reinterpret_cast<std::uintptr_t>(end_) || to < from) [[unlikely]]
      return take_from_chunk(bytes);
    at_ = reinterpret_cast<std::byte*>(to);
    return reinterpret_cast<void*>(from);
  }
  /// Everything taken is given back: for the next start of a persistent operation.
  void reset();

 private:
  void* take_from_chunk(std::size_t bytes);

  std::byte* const first_;
  std::byte* const first_end_;
  std::byte* at_;
  std::byte* end_;
  ChunkCache::Chunk* chunks_ = nullptr;
  ChunkCache& cache_;
};

}  // namespace ashlar::coll
