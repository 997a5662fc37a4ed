#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "tests/unit/rma_native/native_world.h"

namespace ashlar::test {
namespace {

class NativeUpdates : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Faults, NativeUpdates, testing::Range(1u, 17u));

template <class T>
void each_operation(NativeWorld& world, MPI_Datatype type) {
  T& word = *reinterpret_cast<T*>(world[1].memory.data() + 16);
  const auto is = [&](MPI_Op op, T operand, T now) {
    const T was = word;
    T result = 99;
    ASSERT_TRUE(world.update(0, op, type, &operand, &result, 1, 16).ok());
    ASSERT_TRUE(world.flush(0, 1).ok());
    EXPECT_EQ(result, was);
    EXPECT_EQ(word, now);
  };
  word = 12;
  is(MPI_SUM, static_cast<T>(-5), 7);
  is(MPI_BAND, 5, 5);
  is(MPI_BOR, 8, 13);
  is(MPI_BXOR, 1, 12);
  is(MPI_REPLACE, 40, 40);
  is(MPI_NO_OP, 3, 40);
  const T wrong = 39, right = 40, value = 17;
  T result = 0;
  ASSERT_TRUE(world.update(0, MPI_REPLACE, type, &value, &result, 1, 16, 1, &wrong).ok());
  ASSERT_TRUE(world.flush(0, 1).ok());
  EXPECT_EQ(result, 40);
  EXPECT_EQ(word, 40);
  ASSERT_TRUE(world.update(0, MPI_REPLACE, type, &value, &result, 1, 16, 1, &right).ok());
  ASSERT_TRUE(world.flush(0, 1).ok());
  EXPECT_EQ(result, 40);
  EXPECT_EQ(word, 17);
}

// The target does nothing at all.
TEST_P(NativeUpdates, OfEveryWidthByTheTransport) {
  NativeWorld world(2, 1000, remote_faults(GetParam()));
  ASSERT_STREQ(world.target(0, 1).updates->name, "native");
  each_operation<std::int8_t>(world, MPI_INT8_T);
  each_operation<std::int16_t>(world, MPI_INT16_T);
  each_operation<std::int32_t>(world, MPI_INT32_T);
  each_operation<std::int64_t>(world, MPI_INT64_T);
  EXPECT_EQ(world.native(0).counters.atomics, 4u * 8u);
  EXPECT_EQ(world.native(0).counters.asked, 0u);
}

// Four kinds of updates of the same words, by the transport and by the target, the target's own among them.
TEST_P(NativeUpdates, ByAllWaysAtOnceLoseNothing) {
  constexpr int kProcesses = 3, kTimes = 60, kMany = 20;
  NativeWorld world(kProcesses, 1000, remote_faults(GetParam()));
  world.run([&](int rank) {
    std::mt19937 random(GetParam() * 7 + static_cast<unsigned>(rank));
    std::vector<std::int64_t> ones(kMany, 1);
    std::int64_t last = -1;
    for (int time = 0; time < kTimes; ++time) {
      std::int64_t was = 0;
      switch (random() % 3) {
        case 0:  // the transport's atomic operation, where the target is another process
          ASSERT_TRUE(world.update(rank, MPI_SUM, MPI_INT64_T, ones.data(), &was, 0, 0).ok());
          ASSERT_TRUE(world.flush(rank, 0).ok());
          EXPECT_GT(was, last);
          last = was;
          break;
        case 1:  // too many for it
          ASSERT_TRUE(world.update(rank, MPI_SUM, MPI_INT64_T, ones.data(), nullptr, 0, 0, kMany).ok());
          break;
        default:  // nothing is fetched
          ASSERT_TRUE(world.update(rank, MPI_SUM, MPI_INT64_T, ones.data(), nullptr, 0, 0).ok());
          break;
      }
    }
    ASSERT_TRUE(world.flush(rank, 0).ok());
  });
  EXPECT_EQ(world[0].as<std::int64_t>()[0], kProcesses * kTimes);
}

// Of one process, in the order of the calls, although some travel as messages and some do not.
TEST_P(NativeUpdates, KeepTheOrderOfTheCalls) {
  NativeWorld world(2, 1000, remote_faults(GetParam()));
  world.run([&](int rank) {
    if (rank != 0) return;
    std::mt19937 random(GetParam());
    std::int64_t model = 0;
    for (int time = 0; time < 60; ++time) {
      const auto value = static_cast<std::int64_t>(random() % 1000);
      std::int64_t was = -1;
      if (random() % 2 == 0) {
        ASSERT_TRUE(world.update(0, MPI_REPLACE, MPI_INT64_T, &value, nullptr, 1, 8).ok());
        model = value;
      } else {
        ASSERT_TRUE(world.update(0, MPI_MAX, MPI_INT64_T, &value, &was, 1, 8).ok());  // the target's
        ASSERT_TRUE(world.flush(0, 1).ok());
        EXPECT_EQ(was, model);
        model = std::max(model, value);
      }
    }
    ASSERT_TRUE(world.flush(0, 1).ok());
    EXPECT_EQ(world[1].as<std::int64_t>()[1], model);
  });
  EXPECT_GT(world.native(0).counters.asked, 0u);
  EXPECT_GT(world.native(0).counters.atomics, 0u);
}

// Sums of floating-point numbers, pairs, and elements that are not aligned.
TEST_P(NativeUpdates, ThatTheTransportHasNotAreTheTargets) {
  NativeWorld world(2, 1000, remote_faults(GetParam()));
  world.run([&](int rank) {
    if (rank != 0) return;
    const double half = 0.5;
    const std::int64_t one = 1;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.update(0, MPI_SUM, MPI_DOUBLE, &half, nullptr, 1, 0).ok());
    ASSERT_TRUE(world.update(0, MPI_SUM, MPI_INT64_T, &one, nullptr, 1, 13).ok());
    ASSERT_TRUE(world.flush(0, 1).ok());
  });
  EXPECT_EQ(world[1].as<double>()[0], 1.5);
  std::int64_t misaligned = 0;
  std::memcpy(&misaligned, world[1].memory.data() + 13, sizeof misaligned);
  EXPECT_EQ(misaligned, 1);
  EXPECT_EQ(world.native(0).counters.atomics, 0u);
}

TEST(NativeUpdates, AreTheTargetsIfAtomicOperationsAreNotCoherent) {
  LoopOptions options = remote_faults(2);
  options.amo_coherent = 0;
  NativeWorld world(2, 1000, options);
  EXPECT_STREQ(world.target(0, 1).copies->name, "native");
  EXPECT_EQ(world.target(0, 1).updates, &rma::am::asked);
  EXPECT_EQ(world[1].window.own_guard, nullptr);
}

TEST(NativeUpdates, AreTheTargetsIfSoSet) {
  rma::native::Config config = NativeWorld::kConfig;
  config.atomics = false;
  NativeWorld world(2, 1000, remote_faults(2), config);
  EXPECT_STREQ(world.target(0, 1).copies->name, "native");
  EXPECT_EQ(world.target(0, 1).updates, &rma::am::asked);
  EXPECT_EQ(world[1].window.own_guard, nullptr);
}

}  // namespace
}  // namespace ashlar::test
