#include "framework/coll/block.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ashlar::coll {
namespace {

TEST(BlockTest, StartsOnItsOwnersMemoryAndGoesOnInChunks) {
  ChunkCache cache;
  alignas(64) std::byte memory[256];
  Block block(memory, sizeof memory, cache);
  auto* const first = static_cast<std::byte*>(block.take(100));
  EXPECT_EQ(first, memory);
  auto* const second = static_cast<std::byte*>(block.take(100));
  EXPECT_EQ(second, memory + 128);  // 64 bytes and more begin on a cache line
  auto* const third = static_cast<std::byte*>(block.take(100));
  EXPECT_TRUE(third < memory || third >= memory + sizeof memory);
  std::memset(third, 1, 100);
  block.reset();
  EXPECT_EQ(block.take(1), memory);
}

TEST(BlockTest, LargePiecesComeBackFromTheCache) {
  ChunkCache cache(1 << 20);
  std::byte memory[64];
  void* large = nullptr;
  {
    Block block(memory, sizeof memory, cache);
    large = block.take(200'000);
    ASSERT_NE(large, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large) % 64, 0u);
  }
  EXPECT_GE(cache.kept(), 200'000u);
  Block block(memory, sizeof memory, cache);
  EXPECT_NE(block.take(100), large) << "a small piece does not use up a large one";
  EXPECT_EQ(block.take(200'000), large);
}

TEST(BlockTest, TheCacheKeepsNoMoreThanItMay) {
  ChunkCache cache(100'000);
  std::byte memory[64];
  {
    Block block(memory, sizeof memory, cache);
    for (int i = 0; i < 5; ++i) ASSERT_NE(block.take(60'000), nullptr);
  }
  EXPECT_LE(cache.kept(), 100'000u);
  EXPECT_GE(cache.kept(), 60'000u);
}

TEST(BlockTest, ImpossibleSizesAreRefused) {
  ChunkCache cache;
  std::byte memory[64];
  Block block(memory, sizeof memory, cache);
  EXPECT_EQ(block.take(SIZE_MAX - 10), nullptr);
  EXPECT_EQ(block.take(std::size_t{1} << 62), nullptr);
}

}  // namespace
}  // namespace ashlar::coll
