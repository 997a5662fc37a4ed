#include "framework/plugin/pvars.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <thread>
#include <vector>

#include "framework/base/counter.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::plugin {
namespace {

struct Block {
  Counter calls;
  MarkedLevel level;
  Counter size{7};
  double full = 0;
};

constexpr ashlar_pvar_row kRows[] = {
    pvar("calls", "calls", ASHLAR_PVAR_COUNTER, offsetof(Block, calls)),
    pvar("level", "things", ASHLAR_PVAR_LEVEL, offsetof(Block, level.now)),
    pvar("peak", "things", ASHLAR_PVAR_HIGHWATERMARK, offsetof(Block, level.most)),
    computed_pvar("twice", "twice the size", ASHLAR_PVAR_SIZE,
                  [](const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
                    values[0] = 2 * static_cast<const Block*>(block)->size;
                  }),
    computed_pvar("full", "share of the room that is taken", ASHLAR_PVAR_PERCENTAGE,
                  [](const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
                    values[0] = std::bit_cast<std::uint64_t>(static_cast<const Block*>(block)->full);
                  }),
};

/// The set of kRows in `sets`, which has no other.
const PvarSet& only(PvarSets& sets) {
  const PvarSet* found = nullptr;
  sets.each_from(0, [&](const PvarSet& set) { found = &set; });
  return *found;
}

std::uint64_t read(PvarSets& sets, std::uint32_t row) {
  std::uint64_t value = ~0ull;
  only(sets).read(row, nullptr, &value, 1);
  return value;
}

// A percentage lies between 0 and 1 (MPI-5.0, 15.3.7), whatever the number of blocks.
TEST(PvarSets, APercentageIsTheMeanOfItsBlocks) {
  PvarSets sets;
  Block one, two;
  const auto share = [&sets] { return std::bit_cast<double>(read(sets, 4)); };
  sets.add("room", kRows, nullptr);
  EXPECT_EQ(share(), 0.0);
  one.full = 0.25;
  two.full = 0.75;
  sets.add("room", kRows, &one);
  EXPECT_EQ(share(), 0.25);
  sets.add("room", kRows, &two);
  EXPECT_EQ(share(), 0.5);
  sets.remove(kRows, &one);
  EXPECT_EQ(share(), 0.75);
  sets.remove(kRows, &two);
  EXPECT_EQ(share(), 0.0);
}

TEST(PvarSets, BlocksAreSummedAndWhatTheyCountedStays) {
  PvarSets sets;
  Block one, two;
  sets.add("room", kRows, nullptr);
  EXPECT_EQ(read(sets, 0), 0u);
  sets.add("room", kRows, &one);
  sets.add("room", kRows, &two);
  sets.add("room", kRows, &two);  // it is there already
  EXPECT_EQ(sets.each_from(0, [](const PvarSet&) {}), 1u);
  one.calls.add(5);
  two.calls.add();
  one.level.raise(3);
  two.level.raise(4);
  EXPECT_EQ(read(sets, 0), 6u);
  EXPECT_EQ(read(sets, 1), 7u);
  EXPECT_EQ(read(sets, 3), 28u);
  sets.remove(kRows, &one);
  one.calls.add(100);  // no longer its business
  EXPECT_EQ(read(sets, 0), 6u);
  EXPECT_EQ(read(sets, 1), 4u) << "a level goes with its block";
  EXPECT_EQ(read(sets, 3), 14u);
  sets.remove(kRows, &two);
  sets.remove(kRows, &two);
  EXPECT_EQ(read(sets, 0), 6u);
  EXPECT_EQ(read(sets, 1), 0u);
}

TEST(PvarSets, AMarkIsSetBackToItsLevel) {
  PvarSets sets;
  Block block;
  sets.add("room", kRows, &block);
  block.level.raise(10);
  block.level.lower(8);
  EXPECT_EQ(read(sets, 2), 10u);
  only(sets).lower_mark(2);
  EXPECT_EQ(read(sets, 2), 2u);
  block.level.raise(1);
  EXPECT_EQ(read(sets, 2), 3u);
}

TEST(PvarSets, ClosedOnesKeepWhatTheyCounted) {
  PvarSets sets;
  Block block;
  sets.add("transport.gone", kRows, &block);
  block.calls.add(9);
  sets.close("transport.gone");
  EXPECT_FALSE(only(sets).open());
  EXPECT_TRUE(only(sets).rows().empty());
  block.calls.add();
  EXPECT_EQ(read(sets, 0), 9u);
  EXPECT_EQ(read(sets, 1), 0u);
}

TEST(PvarSets, RowsOfTheFirstForm) {
  PvarSets sets;
  const std::uint64_t rings = 3;
  const ashlar_pvar rows[] = {{"rings", "rings", ASHLAR_PVAR_LEVEL, &rings}};
  sets.add("transport.old", rows);
  EXPECT_EQ(read(sets, 0), 3u);
  EXPECT_STREQ(only(sets).rows()[0].name, "rings");
}

// Readers see each block or what it has counted, never both and never neither.
TEST(PvarSets, ReadingIsExactWhileBlocksComeAndGo) {
  PvarSets sets;
  Block fixed;
  fixed.calls.add(1000);
  sets.add("room", kRows, &fixed);
  std::atomic<std::uint64_t> counted{1000};
  std::atomic<bool> over{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!over) {
        const std::uint64_t least = counted;
        const std::uint64_t value = read(sets, 0);
        ASSERT_GE(value, least);
        ASSERT_LE(value, counted + 1);
      }
    });
  }
  for (int i = 0; i < 2000; ++i) {
    Block block;
    sets.add("room", kRows, &block);
    block.calls.add();
    ++counted;
    sets.remove(kRows, &block);
  }
  over = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(read(sets, 0), 3000u);
}

}  // namespace
}  // namespace ashlar::plugin
