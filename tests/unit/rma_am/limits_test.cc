#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/rma_am/window_world.h"

namespace ashlar::test {
namespace {

TEST(Credits, BoundWhatIsUnderWay) {
  WindowWorld world(2, 100000, {}, {.credits = 4, .queue_limit = 4096});
  std::vector<std::byte> in(90000);
  ASSERT_TRUE(world[0].get(in.data(), 90000, bytes(), 1, 0, 90000, bytes()).ok());
  EXPECT_EQ(world[0].am().counters.fragments.get(), 4u) << "the target has not answered yet";
  EXPECT_EQ(world[0].am().counters.stalls.get(), 1u);
  world[1].process.poll();
  EXPECT_EQ(world[1].am().counters.served.get(), 4u);
  ASSERT_TRUE(world.drain(0).ok());
  EXPECT_GT(world[0].am().counters.fragments.get(), 80u);
}

TEST(Credits, AreNotUsedUpByMessagesWithoutData) {
  WindowWorld world(2, 100, {}, {.credits = 4, .queue_limit = 4096});
  const Rank one[] = {1};
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(world[0].sync->post(one, false).ok());
  const int value = 3;
  ASSERT_TRUE(world[0].put(&value, 4, bytes(), 1, 0, 4, bytes()).ok());
  ASSERT_TRUE(world.drain(0).ok());
  EXPECT_EQ(world[1].as<int>()[0], 3);
  EXPECT_EQ(world[1].channel(0).posts, 20);
}

// The call that goes beyond the limit makes progress until there is room.
TEST(QueueLimit, MakesCallsWait) {
  LoopOptions options;
  options.room = 2;
  WindowWorld world(2, 100, options, {.credits = 4, .queue_limit = 10});
  std::atomic<bool> over{false};
  world.run([&](int rank) {
    if (rank == 1) {
      while (!over.load()) {
        world[1].process.poll();
        std::this_thread::yield();
      }
      return;
    }
    const std::uint64_t one = 1;
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(world[0].update(MPI_SUM, MPI_UINT64_T, &one, nullptr, 1, 8).ok());
    EXPECT_GT(world[0].am().counters.full.get(), 0u);
    ASSERT_TRUE(rma::am::asked.flush(world[0].window, world[0].target(1), true).ok());
    over.store(true);
  });
  EXPECT_EQ(world[1].as<std::uint64_t>()[1], 500u);
}

}  // namespace
}  // namespace ashlar::test
