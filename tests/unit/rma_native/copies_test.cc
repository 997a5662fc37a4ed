#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/unit/rma_native/native_world.h"

namespace ashlar::test {
namespace {

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> out(bytes);
  std::mt19937 random(seed);
  for (std::byte& byte : out) byte = static_cast<std::byte>(random());
  return out;
}

class NativeCopies : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Faults, NativeCopies, testing::Range(1u, 25u));

// The target does nothing at all.
TEST_P(NativeCopies, OfAllSizesArriveWhole) {
  constexpr std::size_t kBytes = 70000;
  NativeWorld world(2, kBytes, remote_faults(GetParam()));
  ASSERT_STREQ(world.target(0, 1).copies->name, "native");
  for (const std::size_t size : {0u, 1u, 7u, 200u, 3000u, 65536u}) {
    auto out = pattern(size, GetParam());
    const auto expected = out;
    Gate gate;
    ASSERT_TRUE(world.put(0, out.data(), view(nullptr, size), 1, place(100, size), &gate).ok());
    ASSERT_TRUE(world.flush(0, 1, /*remote=*/false).ok());
    EXPECT_TRUE(gate.open());
    std::fill(out.begin(), out.end(), std::byte{0xdd});  // the buffer is free
    ASSERT_TRUE(world.flush(0, 1).ok());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), world[1].memory.begin() + 100)) << size;
    EXPECT_EQ(world[1].memory[100 + size], std::byte{0});
    std::vector<std::byte> in(size);
    ASSERT_TRUE(world.get(0, view(in.data(), size), 1, place(100, size)).ok());
    ASSERT_TRUE(world.flush(0, 1, /*remote=*/false).ok());
    EXPECT_EQ(in, expected) << size;
    std::fill(world[1].memory.begin(), world[1].memory.end(), std::byte{0});
  }
  EXPECT_EQ(world.native(0).counters.under_way, 0u);
}

TEST_P(NativeCopies, BetweenDifferentLayouts) {
  NativeWorld world(2, 40000, remote_faults(GetParam()));
  Datatype& ints = datatype::predefined(MPI_INT);
  const auto here = vector_of(500, 3, 5, ints);    // 1500 ints
  const auto there = vector_of(300, 5, 11, ints);  // as many
  std::vector<int> out(2500), in(2500, -1);
  std::iota(out.begin(), out.end(), 1);
  // The types are freed while the operation is under way.
  {
    const auto brief_here = vector_of(500, 3, 5, ints), brief_there = vector_of(300, 5, 11, ints);
    ASSERT_TRUE(world
                    .put(0, out.data(), {.data = nullptr, .count = 1, .type = brief_here.get()}, 1,
                         {.offset = 8, .count = 1, .type = brief_there.get()})
                    .ok());
  }
  ASSERT_TRUE(world.flush(0, 1).ok());
  const int* const memory = reinterpret_cast<int*>(world[1].memory.data() + 8);
  for (int i = 0; i < 1500; ++i)
    ASSERT_EQ(memory[i / 5 * 11 + i % 5], out[static_cast<std::size_t>(i / 3 * 5 + i % 3)]);
  EXPECT_EQ(memory[5], 0) << "a gap of the target's type";
  ASSERT_TRUE(world
                  .get(0, {.data = in.data(), .count = 1, .type = here.get()}, 1,
                       {.offset = 8, .count = 1, .type = there.get()})
                  .ok());
  ASSERT_TRUE(world.flush(0, 1).ok());
  for (std::size_t i = 0; i < 2497; ++i) ASSERT_EQ(in[i], i % 5 < 3 ? out[i] : -1);
}

// More pieces than may be under way at once.
TEST_P(NativeCopies, OfMoreOperationsThanTheLimit) {
  rma::native::Config config = NativeWorld::kConfig;
  config.queue_limit = 2;
  NativeWorld world(3, 1000, remote_faults(GetParam()), config);
  const auto out = pattern(1000, GetParam());
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto at = static_cast<MPI_Aint>(i);
    for (const int to : {0, 1}) ASSERT_TRUE(world.put(2, &out[i], view(nullptr, 1), to, place(at, 1)).ok());
    EXPECT_LE(world.native(2).counters.under_way, 2u);
  }
  for (const int to : {0, 1}) {
    ASSERT_TRUE(world.flush(2, to).ok());
    EXPECT_EQ(world[to].memory, out);
  }
}

TEST(NativeCopies, ToTheProcessItselfAreLoadsAndStores) {
  NativeWorld world(2, 1000, remote_faults(2));
  const auto out = pattern(1000, 1);
  ASSERT_EQ(world.target(0, 0).memory, world[0].memory.data());
  ASSERT_TRUE(world.put(0, out.data(), view(nullptr, 1000), 0, place(0, 1000)).ok());
  EXPECT_EQ(world[0].memory, out);
  std::vector<std::byte> in(1000);
  ASSERT_TRUE(world.get(0, view(in.data(), 1000), 0, place(0, 1000)).ok());
  EXPECT_EQ(in, out);
}

// Each window registers its memory once with a transport, and takes the key back.
TEST(NativeCopies, RegisterTheMemoryOnce) {
  LoopIface* iface = nullptr;
  NativeWorld other(2, 1000, remote_faults(2));
  {
    iface = other.world.world[0].others;
    const auto out = pattern(10, 1);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(other.put(1, out.data(), view(nullptr, 10), 0, place(5, 10)).ok());
    ASSERT_TRUE(other.flush(1, 0).ok());
    EXPECT_EQ(iface->exposed, 1u);
    EXPECT_EQ(iface->unexposed, 0u);
  }
  other.close(0);
  EXPECT_EQ(iface->unexposed, 1u);
}

TEST(NativeCopies, NeedATransportThatSaysWhenPutsAreThere) {
  LoopOptions options = remote_faults(2);
  options.put = false;
  NativeWorld world(2, 1000, options);
  EXPECT_EQ(world.target(0, 1).copies, &rma::am::asked);
  EXPECT_EQ(world.target(0, 1).updates, &rma::am::asked);
}

}  // namespace
}  // namespace ashlar::test
