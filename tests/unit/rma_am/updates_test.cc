#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <set>

#include "tests/unit/rma_am/window_world.h"

namespace ashlar::test {
namespace {

class Updates : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Faults, Updates, testing::Range(1u, 9u));

TEST_P(Updates, OfAllProcessesAddUp) {
  constexpr int kProcesses = 4, kCount = 1000, kTimes = 5;
  WindowWorld world(kProcesses, kCount * sizeof(double), faults(GetParam()));
  std::vector<double> ones(kCount);
  std::iota(ones.begin(), ones.end(), 0.0);
  for (int time = 0; time < kTimes; ++time)
    for (int rank = 0; rank < kProcesses; ++rank)
      ASSERT_TRUE(world[rank].update(MPI_SUM, MPI_DOUBLE, ones.data(), nullptr, 2, 0, kCount).ok());
  for (int rank = 0; rank < kProcesses; ++rank) ASSERT_TRUE(world.drain(rank).ok());
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(world[2].as<double>()[i], i * kProcesses * kTimes);
}

// The values that processes fetch from one counter are 0 .. n - 1, each once.
TEST_P(Updates, FetchEveryValueOnce) {
  constexpr int kProcesses = 3, kTimes = 200;
  WindowWorld world(kProcesses, 64, faults(GetParam()));
  std::vector<std::vector<int>> fetched(kProcesses, std::vector<int>(kTimes, -1));
  const int one = 1;
  for (int time = 0; time < kTimes; ++time)
    for (int rank = 0; rank < kProcesses; ++rank)
      ASSERT_TRUE(world[rank]
                      .update(MPI_SUM, MPI_INT, &one,
                              &fetched[static_cast<std::size_t>(rank)][static_cast<std::size_t>(time)], 0, 8)
                      .ok());
  std::set<int> all;
  for (int rank = 0; rank < kProcesses; ++rank) {
    ASSERT_TRUE(world.drain(rank, false).ok());
    const auto& own = fetched[static_cast<std::size_t>(rank)];
    EXPECT_TRUE(std::is_sorted(own.begin(), own.end())) << "updates of one origin are made in order";
    all.insert(own.begin(), own.end());
  }
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kProcesses * kTimes));
  EXPECT_EQ(*all.begin(), 0);
  EXPECT_EQ(*all.rbegin(), kProcesses * kTimes - 1);
}

TEST_P(Updates, CompareAndSwap) {
  WindowWorld world(2, 64, faults(GetParam()));
  world[1].as<std::int64_t>()[2] = 40;
  Datatype& type = datatype::predefined(MPI_INT64_T);
  std::int64_t next = 41, expected = 40, former[2] = {-1, -1};
  for (std::int64_t& result : former)
    ASSERT_TRUE(world[0].update(MPI_REPLACE, type, &next, 1, type, &result, 1, 16, 1, type, &expected).ok());
  expected = 0;  // taken by the call
  ASSERT_TRUE(world.drain(0).ok());
  EXPECT_EQ(former[0], 40);
  EXPECT_EQ(former[1], 41);
  EXPECT_EQ(world[1].as<std::int64_t>()[2], 41);
}

TEST_P(Updates, OfPairsKeepWhatLiesInTheirGaps) {
  struct Pair {
    short value;
    int index;
  };
  constexpr int kCount = 300;
  WindowWorld world(2, kCount * sizeof(Pair), faults(GetParam()));
  std::memset(world[1].memory.data(), 0x55, world[1].memory.size());
  Pair* const pairs = world[1].as<Pair>();
  std::vector<Pair> mine(kCount), former(kCount);
  for (int i = 0; i < kCount; ++i) {
    pairs[i].value = static_cast<short>(i % 7);
    pairs[i].index = 1000 + i;
    mine[static_cast<std::size_t>(i)] = {static_cast<short>(i % 5), i};
  }
  ASSERT_TRUE(world[0].update(MPI_MAXLOC, MPI_SHORT_INT, mine.data(), former.data(), 1, 0, kCount).ok());
  ASSERT_TRUE(world.drain(0).ok());
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(former[static_cast<std::size_t>(i)].value, i % 7);
    EXPECT_EQ(former[static_cast<std::size_t>(i)].index, 1000 + i);
    EXPECT_EQ(pairs[i].value, std::max(i % 7, i % 5));
    EXPECT_EQ(pairs[i].index, i % 7 > i % 5 ? 1000 + i : i);
    EXPECT_EQ(world[1].memory[static_cast<std::size_t>(i) * sizeof(Pair) + 2], std::byte{0x55});
  }
}

TEST_P(Updates, OfDerivedTypesFetchIntoOthers) {
  WindowWorld world(2, 8000, faults(GetParam()));
  Datatype& ints = datatype::predefined(MPI_INT);
  for (int i = 0; i < 2000; ++i) world[1].as<int>()[i] = i;
  const auto there = vector_of(100, 4, 9, ints);
  std::vector<int> add(400, 10000), former(400, -1);
  ASSERT_TRUE(world[0].update(MPI_SUM, ints, add.data(), 400, ints, former.data(), 1, 4, 1, *there).ok());
  // NO_OP reads; its origin may be anything.
  std::vector<int> now(400, -1);
  ASSERT_TRUE(world[0].update(MPI_NO_OP, ints, nullptr, 400, ints, now.data(), 1, 4, 1, *there).ok());
  ASSERT_TRUE(world.drain(0).ok());
  for (int i = 0; i < 400; ++i) {
    const int at = 1 + i / 4 * 9 + i % 4;
    ASSERT_EQ(former[static_cast<std::size_t>(i)], at);
    ASSERT_EQ(now[static_cast<std::size_t>(i)], at + 10000);
    ASSERT_EQ(world[1].as<int>()[at], at + 10000);
  }
  EXPECT_EQ(world[1].as<int>()[5], 5);
}

// One origin replaces a word by growing numbers while others read it: what they read never falls.
TEST_P(Updates, OfOneOriginAreReadInTheirOrder) {
  constexpr int kTimes = 300;
  WindowWorld world(3, 64, faults(GetParam()));
  std::vector<std::uint64_t> numbers(kTimes);
  std::vector<std::vector<std::uint64_t>> read(3, std::vector<std::uint64_t>(kTimes));
  std::iota(numbers.begin(), numbers.end(), 1u);
  for (std::size_t i = 0; i < kTimes; ++i) {
    ASSERT_TRUE(world[0].update(MPI_REPLACE, MPI_UINT64_T, &numbers[i], nullptr, 1, 0).ok());
    for (const int reader : {1, 2})
      ASSERT_TRUE(world[reader]
                      .update(MPI_NO_OP, MPI_UINT64_T, nullptr, &read[static_cast<std::size_t>(reader)][i], 1, 0)
                      .ok());
    world.world.poll();
  }
  for (int rank = 0; rank < 3; ++rank) ASSERT_TRUE(world.drain(rank).ok());
  for (const std::size_t reader : {1u, 2u}) EXPECT_TRUE(std::is_sorted(read[reader].begin(), read[reader].end()));
  EXPECT_EQ(world[1].as<std::uint64_t>()[0], kTimes);
}

}  // namespace
}  // namespace ashlar::test
