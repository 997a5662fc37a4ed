#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "tests/unit/rma_am/window_world.h"

namespace ashlar::test {
namespace {

class Epochs : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Faults, Epochs, testing::Range(1u, 5u));

// A ring of processes, each of which exposes its memory to the one before it and writes to the one after it.
TEST_P(Epochs, OfARingHandOnWhatWasWritten) {
  constexpr int kProcesses = 4, kTimes = 30;
  WindowWorld world(kProcesses, 64, faults(GetParam()));
  std::atomic<int> over{0};
  world.run([&](int rank) {
    Member& member = world[rank];
    const Rank before[] = {(rank + kProcesses - 1) % kProcesses}, after[] = {(rank + 1) % kProcesses};
    for (int time = 0; time < kTimes; ++time) {
      ASSERT_TRUE(member.sync->post(before, false).ok());
      ASSERT_TRUE(member.sync->start(after, false).ok());
      const int value = rank * 1000 + time;
      ASSERT_TRUE(member.put(&value, 4, bytes(), after[0], 0, 4, bytes()).ok());
      ASSERT_TRUE(rma::am::asked.flush(member.window, member.target(after[0]), true).ok());
      ASSERT_TRUE(member.sync->complete(after).ok());
      for (bool ended = false; !ended;) {
        ASSERT_TRUE(member.sync->exposure_over(before, time % 2 == 0, &ended).ok());
        member.process.poll();
      }
      ASSERT_EQ(member.as<int>()[0], before[0] * 1000 + time);
    }
    ++over;
    while (over.load() != kProcesses) member.process.poll();
  });
}

// Process 2 posts to process 0 for its second epoch before process 0 has begun its first, which is with process 1.
TEST(Epochs, CountPostsForEachPair) {
  WindowWorld world(3, 64);
  const Rank zero[] = {0}, one[] = {1}, two[] = {2};
  ASSERT_TRUE(world[2].sync->post(zero, false).ok());
  for (int i = 0; i < 5; ++i) world.world.poll();
  EXPECT_EQ(world[0].channel(2).posts, 1);
  EXPECT_EQ(world[0].channel(1).posts, 0);
  ASSERT_TRUE(world[1].sync->post(zero, false).ok());
  for (int i = 0; i < 5; ++i) world.world.poll();
  ASSERT_TRUE(world[0].sync->start(one, false).ok());
  ASSERT_TRUE(world[0].sync->complete(one).ok());
  ASSERT_TRUE(world[0].sync->start(two, false).ok());
  ASSERT_TRUE(world[0].sync->complete(two).ok());
  for (int i = 0; i < 5; ++i) world.world.poll();
  bool over = false;
  ASSERT_TRUE(world[1].sync->exposure_over(zero, false, &over).ok());
  EXPECT_TRUE(over);
  ASSERT_TRUE(world[2].sync->exposure_over(zero, false, &over).ok());
  EXPECT_TRUE(over);
  EXPECT_EQ(world[0].channel(1).posts + world[0].channel(2).posts, 0);
}

// With MPI_MODE_NOCHECK the start does not wait, and the post that comes later is not taken for that of the next epoch.
TEST(Epochs, WithoutChecksStillCount) {
  WindowWorld world(2, 64);
  const Rank zero[] = {0}, one[] = {1};
  bool over = false;
  ASSERT_TRUE(world[0].sync->start(one, true).ok());
  ASSERT_TRUE(world[0].sync->complete(one).ok());
  ASSERT_TRUE(world[1].sync->post(zero, true).ok());
  for (int i = 0; i < 5; ++i) world.world.poll();
  ASSERT_TRUE(world[1].sync->exposure_over(zero, false, &over).ok());
  EXPECT_TRUE(over);
  EXPECT_EQ(world[0].channel(1).posts, 0);
  ASSERT_TRUE(world[1].sync->exposure_over(zero, false, &over).ok());
  EXPECT_FALSE(over);
}

TEST(Epochs, OfNobodyAreOverAtOnce) {
  WindowWorld world(1, 64);
  bool over = false;
  ASSERT_TRUE(world[0].sync->post({}, false).ok());
  ASSERT_TRUE(world[0].sync->start({}, false).ok());
  ASSERT_TRUE(world[0].sync->complete({}).ok());
  ASSERT_TRUE(world[0].sync->exposure_over({}, true, &over).ok());
  EXPECT_TRUE(over);
}

TEST(Epochs, EndWhenAProcessThatTheyWaitForIsGone) {
  WindowWorld world(3, 64);
  const Rank both[] = {1, 2}, other[] = {2};
  world.world.network().kill(1);
  ASSERT_TRUE(world[2].sync->post(std::vector<Rank>{0}, false).ok());
  for (int i = 0; i < 5; ++i) world.world.poll();
  EXPECT_EQ(world[0].sync->start(both, false).mpi_class(), MPI_ERR_PROC_ABORTED);
  EXPECT_TRUE(world[0].sync->start(other, false).ok()) << "rank 1 has no part in it";
}

}  // namespace
}  // namespace ashlar::test
