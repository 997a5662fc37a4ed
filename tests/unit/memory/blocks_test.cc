#include "framework/memory/blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace ashlar::memory {
namespace {

constexpr std::uint64_t kBase = 0x10000;
constexpr std::uint64_t kUnit = 64;
constexpr std::uint64_t kBytes = 1 << 20;

TEST(BlocksTest, TakesTheBestFitAndOfEqualOnesTheLowest) {
  Blocks blocks(kUnit);
  blocks.add({.begin = kBase, .bytes = kBytes}, Pages::kNone);
  Range taken[7];
  const std::uint64_t sizes[7] = {640, 64, 128, 64, 128, 64, 64};
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(blocks.take(sizes[i], 1, Pages::kNone, &taken[i]));
  EXPECT_EQ(taken[0].begin, kBase);
  EXPECT_EQ(taken[6].end(), kBase + 640 + 64 * 4 + 128 * 2);
  // Free: 640, 128, 128 and the rest. 100 bytes go into the first of the two that fit best.
  for (const int i : {4, 0, 2}) EXPECT_EQ(blocks.give(taken[i].begin).begin, taken[i].begin);
  Range fit;
  ASSERT_TRUE(blocks.take(100, 1, Pages::kNone, &fit));
  EXPECT_EQ(fit.begin, taken[2].begin);
  EXPECT_EQ(fit.bytes, 128u);
  ASSERT_TRUE(blocks.take(200, 1, Pages::kNone, &fit));
  EXPECT_EQ(fit.begin, taken[0].begin);
}

TEST(BlocksTest, ABlockIsFoundAroundAnAddressAndHasANumberOfItsOwn) {
  Blocks blocks(kUnit);
  blocks.add({.begin = kBase, .bytes = kBytes}, Pages::kNone);
  std::uint64_t serial = 0;
  EXPECT_EQ(blocks.around(kBase, &serial).bytes, 0u);
  Range first, second;
  ASSERT_TRUE(blocks.take(4 * kUnit, 1, Pages::kNone, &first));
  ASSERT_TRUE(blocks.take(2 * kUnit, 1, Pages::kNone, &second));
  EXPECT_EQ(blocks.around(kBase - 1, &serial).bytes, 0u);
  EXPECT_EQ(blocks.around(second.end(), &serial).bytes, 0u);
  for (std::uint64_t at = first.begin; at < first.end(); ++at) {
    ASSERT_EQ(blocks.around(at, &serial).begin, first.begin);
    ASSERT_EQ(blocks.around(at, &serial).bytes, first.bytes);
  }
  const std::uint64_t of_first = serial;
  EXPECT_EQ(blocks.around(second.end() - 1, &serial).begin, second.begin);
  EXPECT_NE(serial, of_first);
  const std::uint64_t of_second = serial;
  blocks.give(first.begin);
  EXPECT_EQ(blocks.around(first.begin, &serial).bytes, 0u);
  // The same place another time.
  Range again;
  ASSERT_TRUE(blocks.take(4 * kUnit, 1, Pages::kNone, &again));
  ASSERT_EQ(again.begin, first.begin);
  EXPECT_EQ(blocks.around(again.begin, &serial).bytes, again.bytes);
  EXPECT_NE(serial, of_first);
  EXPECT_NE(serial, of_second);
}

TEST(BlocksTest, NeighboursBecomeOneAgain) {
  Blocks blocks(kUnit);
  blocks.add({.begin = kBase, .bytes = 3 * kUnit}, Pages::kNone);
  Range part[3], whole;
  for (auto& p : part) ASSERT_TRUE(blocks.take(1, 1, Pages::kNone, &p));
  EXPECT_FALSE(blocks.take(1, 1, Pages::kNone, &whole));
  blocks.give(part[0].begin);
  blocks.give(part[2].begin);
  EXPECT_FALSE(blocks.take(2 * kUnit, 1, Pages::kNone, &whole));
  EXPECT_EQ(blocks.give(part[1].begin).bytes, 3 * kUnit);
  EXPECT_TRUE(blocks.take(3 * kUnit, 1, Pages::kNone, &whole));
}

TEST(BlocksTest, KindsStayApartUntilTheyAreEqual) {
  Blocks blocks(kUnit);
  blocks.add({.begin = kBase, .bytes = 4 * kUnit}, Pages::kNone);
  Range first, second, out;
  ASSERT_TRUE(blocks.take(kUnit, 1, Pages::kNone, &first));
  ASSERT_TRUE(blocks.take(kUnit, 1, Pages::kNone, &second));
  blocks.change_taken(first.begin, Pages::kClaimed);
  EXPECT_EQ(blocks.give(first.begin).bytes, kUnit);
  EXPECT_EQ(blocks.give(second.begin).bytes, 3 * kUnit);
  EXPECT_EQ(blocks.free_bytes(Pages::kClaimed), kUnit);
  EXPECT_EQ(blocks.free_bytes(Pages::kNone), 3 * kUnit);
  EXPECT_FALSE(blocks.take(2 * kUnit, 1, Pages::kClaimed, &out));
  blocks.change_free(first.begin, Pages::kNone);
  EXPECT_EQ(blocks.largest(Pages::kNone).bytes, 4 * kUnit);
  EXPECT_EQ(blocks.free_bytes(Pages::kClaimed), 0u);
}

TEST(BlocksTest, AFreeBlockIsCutInTwo) {
  Blocks blocks(kUnit);
  blocks.add({.begin = kBase, .bytes = 4 * kUnit}, Pages::kSome);
  blocks.add({.begin = kBase + 4 * kUnit, .bytes = 2 * kUnit}, Pages::kNone);
  blocks.cut_free(kBase, kBase + kUnit);
  EXPECT_EQ(blocks.free_bytes(Pages::kSome), 4 * kUnit);
  EXPECT_EQ(blocks.largest(Pages::kSome).begin, kBase + kUnit);
  // As before: it joins again.
  blocks.change_free(kBase + kUnit, Pages::kSome);
  EXPECT_EQ(blocks.largest(Pages::kSome).bytes, 4 * kUnit);
  blocks.cut_free(kBase, kBase + 3 * kUnit);
  blocks.change_free(kBase + 3 * kUnit, Pages::kNone);
  EXPECT_EQ(blocks.free_bytes(Pages::kSome), 3 * kUnit);
  EXPECT_EQ(blocks.free_bytes(Pages::kNone), 3 * kUnit);
  Range out;
  ASSERT_TRUE(blocks.take(3 * kUnit, 1, Pages::kNone, &out));
  EXPECT_EQ(out.begin, kBase + 3 * kUnit);
  ASSERT_TRUE(blocks.take(3 * kUnit, 1, Pages::kSome, &out));
  EXPECT_EQ(out.begin, kBase);
}

TEST(BlocksTest, OnlyWhatWasTakenCanBeGiven) {
  Blocks blocks(kUnit);
  blocks.add({.begin = kBase, .bytes = kBytes}, Pages::kNone);
  Range out;
  ASSERT_TRUE(blocks.take(1000, 1, Pages::kNone, &out));
  EXPECT_EQ(blocks.give(out.begin + kUnit).bytes, 0u);
  EXPECT_EQ(blocks.give(out.end()).bytes, 0u);
  EXPECT_EQ(blocks.give(0).bytes, 0u);
  EXPECT_NE(blocks.give(out.begin).bytes, 0u);
  EXPECT_EQ(blocks.give(out.begin).bytes, 0u);
  EXPECT_EQ(blocks.taken(out.begin).bytes, 0u);
}

TEST(BlocksTest, SizesThatOverflowDoNotFit) {
  Blocks blocks(kUnit);
  blocks.add({.begin = kBase, .bytes = kBytes}, Pages::kNone);
  Range out;
  EXPECT_FALSE(blocks.take(UINT64_MAX, 1, Pages::kNone, &out));
  EXPECT_FALSE(blocks.take(UINT64_MAX - 63, 1, Pages::kNone, &out));
  EXPECT_FALSE(blocks.take(kBytes + 1, 1, Pages::kNone, &out));
  EXPECT_FALSE(blocks.take(1, std::uint64_t{1} << 63, Pages::kNone, &out));
  EXPECT_TRUE(blocks.take(kBytes, 1, Pages::kNone, &out));
}

// Against a model that knows the owner of every unit.
TEST(BlocksTest, RandomPatternsAgreeWithAModel) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Blocks blocks(kUnit);
  blocks.add({.begin = kBase, .bytes = kBytes}, Pages::kNone);
  std::vector<int> owner(kBytes / kUnit, 0);
  std::map<int, Range> held;
  int next = 1;
  const auto longest_run = [&] {
    std::uint64_t best = 0, run = 0;
    for (const int o : owner) best = std::max(best, run = o == 0 ? run + 1 : 0);
    return best * kUnit;
  };
  for (int step = 0; step < 20'000; ++step) {
    if (held.empty() || random() % 100 < 55) {
      const std::uint64_t bytes = 1 + random() % (random() % 8 == 0 ? 60'000 : 600);
      const std::uint64_t alignment = std::uint64_t{1} << (random() % 4 == 0 ? random() % 15 : 0);
      Range out;
      if (!blocks.take(bytes, alignment, Pages::kNone, &out)) {
        // Nothing that would fit at any alignment is left over.
        if (alignment <= kUnit) {
          ASSERT_LT(longest_run(), bytes);
        }
        continue;
      }
      ASSERT_EQ(out.begin % alignment, 0u);
      ASSERT_GE(out.bytes, bytes);
      ASSERT_LT(out.bytes, bytes + kUnit);
      ASSERT_GE(out.begin, kBase);
      ASSERT_LE(out.end(), kBase + kBytes);
      for (std::uint64_t u = (out.begin - kBase) / kUnit; u < (out.end() - kBase) / kUnit; ++u) {
        ASSERT_EQ(owner[u], 0);
        owner[u] = next;
      }
      held[next++] = out;
    } else {
      auto victim = held.lower_bound(static_cast<int>(random() % static_cast<unsigned>(next)));
      if (victim == held.end()) victim = held.begin();
      const Range freed = blocks.give(victim->second.begin);
      for (int& o : owner)
        if (o == victim->first) o = 0;
      // The free block that it is in now is exactly the run of free units around it.
      const auto first = (freed.begin - kBase) / kUnit, last = (freed.end() - kBase) / kUnit;
      for (auto u = first; u < last; ++u) ASSERT_EQ(owner[u], 0);
      if (first > 0) {
        ASSERT_NE(owner[first - 1], 0);
      }
      if (last < owner.size()) {
        ASSERT_NE(owner[last], 0);
      }
      held.erase(victim);
    }
    if (step % 1000 == 0) {
      std::uint64_t free_units = 0;
      for (const int o : owner) free_units += o == 0;
      ASSERT_EQ(blocks.free_bytes(Pages::kNone), free_units * kUnit);
      ASSERT_EQ(blocks.largest(Pages::kNone).bytes, longest_run());
    }
  }
  for (const auto& [number, range] : held) blocks.give(range.begin);
  EXPECT_EQ(blocks.largest(Pages::kNone).bytes, kBytes);
}

}  // namespace
}  // namespace ashlar::memory
