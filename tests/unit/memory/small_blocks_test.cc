#include "framework/memory/small_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace ashlar::memory {
namespace {

constexpr std::uint64_t kPart = SmallBlocks::kUnit, kChunk = SmallBlocks::kChunk;
constexpr std::uint64_t kFirst = 0x100000, kSecond = kFirst + 4 * kChunk;

TEST(SmallBlocksTest, TheFirstPartThatFitsOfTheFullestChunk) {
  SmallBlocks blocks;
  blocks.add(kFirst);
  blocks.add(kSecond);
  Range large, part[4], out;
  ASSERT_TRUE(blocks.take(kChunk - 8 * kPart, 1, &large));
  EXPECT_EQ(large.begin, kFirst);
  for (Range& p : part) ASSERT_TRUE(blocks.take(2 * kPart, 1, &p));
  EXPECT_EQ(part[3].end(), kFirst + kChunk);
  EXPECT_EQ(blocks.give(part[2].begin).bytes, 2 * kPart);
  EXPECT_EQ(blocks.give(part[0].begin).bytes, 2 * kPart);
  ASSERT_TRUE(blocks.take(kPart + 1, 1, &out));
  EXPECT_EQ(out.begin, part[0].begin);
  EXPECT_EQ(out.bytes, 2 * kPart);
  ASSERT_TRUE(blocks.take(3 * kPart, 1, &out));
  EXPECT_EQ(out.begin, kSecond);
}

TEST(SmallBlocksTest, NeighboursInAChunkBecomeOneAgain) {
  SmallBlocks blocks;
  blocks.add(kFirst);
  blocks.add(kFirst + kChunk);
  Range part[3], out;
  for (Range& p : part) ASSERT_TRUE(blocks.take(kPart, 1, &p));
  EXPECT_EQ(blocks.give(part[0].begin).bytes, kPart);
  EXPECT_EQ(blocks.give(part[2].begin).bytes, kChunk - 2 * kPart);
  const Range all = blocks.give(part[1].begin);
  EXPECT_EQ(all.begin, kFirst);
  EXPECT_EQ(all.bytes, kChunk) << "not with the chunk that follows";
  EXPECT_FALSE(blocks.take(kChunk + 1, 1, &out));
  blocks.remove(kFirst);
  EXPECT_FALSE(blocks.is_chunk(kFirst));
  EXPECT_EQ(blocks.free_bytes(), kChunk);
  ASSERT_TRUE(blocks.take(kChunk, 4096, &out));
  EXPECT_EQ(out.begin, kFirst + kChunk);
  EXPECT_EQ(blocks.free_bytes(), 0u);
}

TEST(SmallBlocksTest, OnlyWhatWasTakenCanBeGivenBack) {
  SmallBlocks blocks;
  blocks.add(kFirst);
  Range one, two;
  ASSERT_TRUE(blocks.take(3 * kPart, 1, &one));
  ASSERT_TRUE(blocks.take(kPart, 1, &two));
  for (const std::uint64_t wrong : {std::uint64_t{0}, kFirst - kPart, one.begin + 1, one.begin + kPart,
                                    one.begin + 2 * kPart, two.end(), kFirst + kChunk, UINT64_MAX}) {
    EXPECT_EQ(blocks.taken(wrong).bytes, 0u) << wrong;
    EXPECT_EQ(blocks.give(wrong).bytes, 0u) << wrong;
  }
  EXPECT_EQ(blocks.taken(one.begin).bytes, 3 * kPart);
  EXPECT_EQ(blocks.taken(two.begin).bytes, kPart);
  EXPECT_EQ(blocks.give(one.begin).bytes, 3 * kPart);
  EXPECT_EQ(blocks.give(one.begin).bytes, 0u);
  EXPECT_EQ(blocks.taken(two.begin).bytes, kPart);
}

TEST(SmallBlocksTest, SizesThatOverflowDoNotFit) {
  SmallBlocks blocks;
  Range out;
  EXPECT_FALSE(blocks.take(1, 1, &out));
  blocks.add(kFirst);
  EXPECT_FALSE(blocks.take(UINT64_MAX, 1, &out));
  EXPECT_FALSE(blocks.take(UINT64_MAX - 63, 1, &out));
  EXPECT_FALSE(blocks.take(kChunk + 1, 1, &out));
}

/// Chunks, and which block has each unit of them.
class Model {
 public:
  explicit Model(std::vector<std::uint64_t> chunks) : chunks_(std::move(chunks)) {
    for (const std::uint64_t chunk : chunks_) owners_[chunk].assign(kChunk / kPart, 0);
  }

  void take(const Range& block, int owner) {
    for (int* const unit : units(block)) {
      ASSERT_EQ(*unit, 0);
      *unit = owner;
    }
  }
  /// `around`: the free part of the chunk that the block has left.
  void give(const Range& block, const Range& around) {
    for (int* const unit : units(block)) *unit = 0;
    for (const int* const unit : units(around)) ASSERT_EQ(*unit, 0);
    const std::uint64_t chunk = chunk_of(block.begin);
    if (around.begin != chunk) {
      ASSERT_NE(*units({.begin = around.begin - kPart, .bytes = kPart}).front(), 0);
    }
    if (around.end() != chunk + kChunk) {
      ASSERT_NE(*units({.begin = around.end(), .bytes = kPart}).front(), 0);
    }
  }
  /// Whether some free part has room for the block.
  bool fits(std::uint64_t bytes, std::uint64_t alignment) const {
    for (const auto& [chunk, owners] : owners_) {
      std::uint64_t run = 0;
      for (std::size_t unit = owners.size(); unit-- > 0;) {
        run = owners[unit] == 0 ? run + kPart : 0;
        if (run >= bytes && (chunk + unit * kPart) % alignment == 0) return true;
      }
    }
    return false;
  }
  std::uint64_t free_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [chunk, owners] : owners_)
      bytes += kPart * static_cast<std::uint64_t>(std::count(owners.begin(), owners.end(), 0));
    return bytes;
  }

 private:
  std::uint64_t chunk_of(std::uint64_t address) const {
    return *std::find_if(chunks_.begin(), chunks_.end(), [&](std::uint64_t chunk) { return address - chunk < kChunk; });
  }
  std::vector<int*> units(const Range& range) {
    const std::uint64_t chunk = chunk_of(range.begin);
    EXPECT_LE(range.end(), chunk + kChunk);
    std::vector<int*> found;
    for (std::uint64_t at = range.begin; at < range.end(); at += kPart)
      found.push_back(&owners_[chunk][(at - chunk) / kPart]);
    return found;
  }
  std::vector<std::uint64_t> chunks_;
  std::map<std::uint64_t, std::vector<int>> owners_;
};

TEST(SmallBlocksTest, RandomPatternsAgreeWithAModel) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<std::uint64_t> chunks = {kFirst, kFirst + kChunk, kSecond};
  SmallBlocks blocks;
  for (const std::uint64_t chunk : chunks) blocks.add(chunk);
  Model model(chunks);
  std::map<int, Range> held;
  int next = 1;
  for (int step = 0; step < 20'000; ++step) {
    if (held.empty() || random() % 100 < 55) {
      const std::uint64_t bytes = 1 + random() % (random() % 8 == 0 ? 32'000 : 600);
      const std::uint64_t alignment = std::uint64_t{1} << (random() % 4 == 0 ? random() % 13 : 0);
      Range out;
      if (!blocks.take(bytes, alignment, &out)) {
        // At other alignments it may fit in a chunk that was not looked at, as long as none has much more room.
        ASSERT_FALSE(model.fits(bytes + (alignment > kPart ? alignment - kPart : 0), 1));
        continue;
      }
      ASSERT_EQ(out.begin % alignment, 0u);
      ASSERT_GE(out.bytes, bytes);
      ASSERT_LT(out.bytes, bytes + kPart);
      model.take(out, next);
      held[next++] = out;
    } else {
      auto victim = held.lower_bound(static_cast<int>(random() % static_cast<unsigned>(next)));
      if (victim == held.end()) victim = held.begin();
      model.give(victim->second, blocks.give(victim->second.begin));
      held.erase(victim);
    }
    if (HasFatalFailure()) return;
    ASSERT_EQ(blocks.free_bytes(), model.free_bytes());
  }
  for (const auto& [owner, block] : held) {
    ASSERT_EQ(blocks.taken(block.begin).bytes, block.bytes);
    ASSERT_NE(blocks.give(block.begin).bytes, 0u);
  }
  for (const std::uint64_t chunk : chunks) blocks.remove(chunk);
  EXPECT_EQ(blocks.free_bytes(), 0u);
}

}  // namespace
}  // namespace ashlar::memory
