#include "framework/coll/block.h"

#include <cstdlib>
#include <new>

namespace ashlar::coll {
namespace {

constexpr std::size_t kSmallestChunk = 16 * 1024;

}  // namespace

ChunkCache::~ChunkCache() {
  if (level_ != nullptr) level_->lower(kept_);
  while (free_ != nullptr) {
    Chunk* const next = free_->next;
    std::free(free_);
    free_ = next;
  }
}

ChunkCache::Chunk* ChunkCache::take(std::size_t room) {
  // First fit; but a small wish does not take a large piece away from the next large one.
  for (Chunk** link = &free_; *link != nullptr; link = &(*link)->next) {
    Chunk* const chunk = *link;
    if (chunk->room < room || chunk->room / 4 > room + kSmallestChunk) continue;
    *link = chunk->next;
    kept_ -= chunk->room;
    if (level_ != nullptr) level_->lower(chunk->room);
    return chunk;
  }
  if (room > SIZE_MAX / 2) return nullptr;
  const std::size_t total = (room + kHeader + 63) / 64 * 64;
  void* const memory = std::aligned_alloc(64, total);
  if (memory == nullptr) return nullptr;
  return new (memory) Chunk{nullptr, total - kHeader};
}

void ChunkCache::put(Chunk* chunk) {
  if (kept_ + chunk->room > keep_) {
    std::free(chunk);
    return;
  }
  kept_ += chunk->room;
  if (level_ != nullptr) level_->raise(chunk->room);
  chunk->next = free_;
  free_ = chunk;
}

void Block::reset() {
  while (chunks_ != nullptr) {
    ChunkCache::Chunk* const next = chunks_->next;
    cache_.put(chunks_);
    chunks_ = next;
  }
  at_ = first_;
  end_ = first_end_;
}

void* Block::take_from_chunk(std::size_t bytes) {
  ChunkCache::Chunk* const chunk = cache_.take(bytes > kSmallestChunk / 2 ? bytes : kSmallestChunk);
  if (chunk == nullptr) return nullptr;
  chunk->next = chunks_;
  chunks_ = chunk;
  if (bytes > kSmallestChunk / 2) return chunk->bytes();  // all of it; small pieces go on where they were
  at_ = chunk->bytes() + bytes;
  end_ = chunk->bytes() + chunk->room;
  return chunk->bytes();
}

}  // namespace ashlar::coll
