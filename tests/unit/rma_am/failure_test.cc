#include <gtest/gtest.h>

#include <list>
#include <random>
#include <string>

#include "tests/unit/rma_am/window_world.h"

namespace ashlar::test {
namespace {

class Failures : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Faults, Failures, testing::Range(1u, 7u));

// What the target refuses is a failure of the origin, once, and what follows is done.
TEST_P(Failures, AtTheTargetAreReportedByTheNextFlush) {
  WindowWorld world(2, 1000, faults(GetParam()));
  const std::uint64_t value = 5;
  ASSERT_TRUE(world[0].put(&value, 8, bytes(), 1, 996, 8, bytes()).ok());
  ASSERT_TRUE(world[0].put(&value, 8, bytes(), 1, 8, 8, bytes()).ok());
  const Status outcome = world.drain(0);
  EXPECT_EQ(outcome.mpi_class(), MPI_ERR_RMA_RANGE);
  EXPECT_STREQ(outcome.text(),
               "a put of this process reached 8 bytes at offset 996 of rank 1's memory in window 'halo', which do not "
               "lie in it");
  EXPECT_EQ(world[1].as<std::uint64_t>()[1], 5u);
  EXPECT_TRUE(world.drain(0).ok()) << "it is reported once";
}

TEST_P(Failures, OfFetchesLeaveTheOthersAlone) {
  WindowWorld world(2, 1000, faults(GetParam()));
  world[1].as<int>()[0] = 17;
  world[1].as<int>()[1] = 18;
  int first = 0, wrong = 3, last = 0;
  const int one = 1;
  ASSERT_TRUE(world[0].get(&first, 4, bytes(), 1, 0, 4, bytes()).ok());
  ASSERT_TRUE(world[0].update(MPI_SUM, MPI_INT, &one, &wrong, 1, 1000).ok());
  ASSERT_TRUE(world[0].get(&last, 4, bytes(), 1, 4, 4, bytes()).ok());
  const Status outcome = world.drain(0);
  EXPECT_EQ(outcome.mpi_class(), MPI_ERR_RMA_RANGE);
  EXPECT_NE(std::string(outcome.text()).find("an accumulate of this process reached 4 bytes at offset 1000"),
            std::string::npos)
      << outcome.text();
  EXPECT_EQ(first, 17);
  EXPECT_EQ(wrong, 3);
  EXPECT_EQ(last, 18);
}

TEST_P(Failures, OfOperationsWithARequestAreTheRequests) {
  WindowWorld world(2, 1000, faults(GetParam()));
  std::vector<std::byte> in(5000);
  Gate gate;
  ASSERT_TRUE(world[0].get(in.data(), 5000, bytes(), 1, 0, 5000, bytes(), &gate).ok());
  EXPECT_TRUE(world.drain(0).ok());
  ASSERT_TRUE(gate.open());
  EXPECT_EQ(gate.status().mpi_class(), MPI_ERR_RMA_RANGE);
}

TEST_P(Failures, OfATargetEndWhatIsUnderWayToIt) {
  WindowWorld world(3, 100000, faults(GetParam()));
  std::vector<std::byte> out(90000), in(90000);
  Gate put, get, other;
  ASSERT_TRUE(world[0].put(out.data(), 90000, bytes(), 1, 0, 90000, bytes(), &put).ok());
  ASSERT_TRUE(world[0].get(in.data(), 90000, bytes(), 1, 0, 90000, bytes(), &get).ok());
  ASSERT_TRUE(world[0].get(in.data(), 100, bytes(), 2, 0, 100, bytes(), &other).ok());
  world.world.network().kill(1);
  ASSERT_TRUE(world.world.poll_until([&] { return put.open() && get.open() && other.open(); }));
  EXPECT_EQ(get.status().mpi_class(), MPI_ERR_PROC_ABORTED);
  EXPECT_TRUE(other.status().ok());
  Gate late;
  const Status refused = world[0].put(out.data(), 10, bytes(), 1, 0, 10, bytes(), &late);
  EXPECT_EQ(refused.mpi_class(), MPI_ERR_PROC_ABORTED);
  EXPECT_TRUE(late.open());
  EXPECT_TRUE(world[0].channel(1).requests.idle());
  EXPECT_TRUE(world.drain(0).ok());
}

class Leftovers : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Faults, Leftovers, testing::Range(1u, 60u));

// When a process's operations are complete no message of the window is under way to it or from it: a window that is
// made next has the same context, and would take it for its own.
TEST_P(Leftovers, OfOneWindowDoNotReachTheNext) {
  WindowWorld world(2, 1000, faults(GetParam()), {.credits = 4, .queue_limit = 4096});
  std::mt19937 random(GetParam());
  const std::uint64_t value = 5;
  for (int window = 0; window < 20; ++window) {
    std::list<rma::am::Flush> flushes;
    for (int i = 0; i < 12; ++i) {
      const MPI_Aint offset = random() % 4 == 0 ? 996 : 8;  // the former is refused
      ASSERT_TRUE(world[0].put(&value, 8, bytes(), 1, offset, 8, bytes()).ok());
      if (random() % 3 == 0) world.world.poll();
      if (random() % 2 != 0) continue;
      world[0].channel(1).requests.add(flushes.emplace_back(true));
      static_cast<void>(world[0].am().wire().kick(world[0].channel(1).requests));
    }
    static_cast<void>(world.drain(0));
    world.remake();
    for (int i = 0; i < 100; ++i) world.world.poll();
    for (int rank = 0; rank < 2; ++rank)
      ASSERT_EQ(world[rank].am().channels[static_cast<std::size_t>(1 - rank)], nullptr) << "rank " << rank;
  }
}

}  // namespace
}  // namespace ashlar::test
