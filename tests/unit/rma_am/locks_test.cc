#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/rma_am/window_world.h"

namespace ashlar::test {
namespace {

class Locks : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Faults, Locks, testing::Range(1u, 5u));

/// A process that has done its part serves the others until all have.
struct Rest {
  explicit Rest(WindowWorld& of) : world(of) {}
  void serve(int rank) {
    ++over;
    while (over.load() != world.size()) {
      world[rank].process.poll();
      std::this_thread::yield();
    }
  }
  WindowWorld& world;
  std::atomic<int> over{0};
};

Status flush(WindowWorld& world, int rank, int target) {
  return rma::am::asked.flush(world[rank].window, world[rank].target(target), true);
}

// Read, add, write under an exclusive lock: the count is exact.
TEST_P(Locks, ExclusiveOnesProtectAReadModifyWrite) {
  constexpr int kProcesses = 4, kTimes = 40;
  WindowWorld world(kProcesses, 64, faults(GetParam()));
  Rest rest(world);
  world.run([&](int rank) {
    Member& member = world[rank];
    for (int time = 0; time < kTimes; ++time) {
      const int at = (rank + time) % kProcesses;
      rma::Target& target = member.target(at);
      ASSERT_TRUE(member.sync->lock(target, true).ok());
      std::uint64_t value = 0;
      ASSERT_TRUE(member.get(&value, 8, bytes(), at, 0, 8, bytes()).ok());
      ASSERT_TRUE(flush(world, rank, at).ok());
      ++value;
      ASSERT_TRUE(member.put(&value, 8, bytes(), at, 0, 8, bytes()).ok());
      ASSERT_TRUE(flush(world, rank, at).ok());
      ASSERT_TRUE(member.sync->unlock(target, true).ok());
    }
    rest.serve(rank);
  });
  std::uint64_t sum = 0;
  for (int rank = 0; rank < kProcesses; ++rank) sum += world[rank].as<std::uint64_t>()[0];
  EXPECT_EQ(sum, kProcesses * kTimes);
}

// Holders of lock_all and of an exclusive lock never meet; shared ones of one target exclude its exclusive one alone.
TEST_P(Locks, OfAllKindsExcludeEachOther) {
  constexpr int kProcesses = 4, kTimes = 60;
  WindowWorld world(kProcesses, 64, faults(GetParam()));
  Rest rest(world);
  std::atomic<int> all{0}, shared[kProcesses] = {}, exclusive[kProcesses] = {}, together{0};
  world.run([&](int rank) {
    Member& member = world[rank];
    std::mt19937 random(GetParam() * 100 + static_cast<unsigned>(rank));
    for (int time = 0; time < kTimes; ++time) {
      const auto at = static_cast<int>(random() % kProcesses);
      rma::Target& target = member.target(at);
      switch (random() % 3) {
        case 0:
          ASSERT_TRUE(member.sync->lock_all().ok());
          if (++all > 1) ++together;
          for (const auto& one : exclusive) EXPECT_EQ(one.load(), 0);
          std::this_thread::yield();
          --all;
          ASSERT_TRUE(member.sync->unlock_all().ok());
          break;
        case 1:
          ASSERT_TRUE(member.sync->lock(target, false).ok());
          ++shared[at];
          EXPECT_EQ(exclusive[at].load(), 0);
          std::this_thread::yield();
          --shared[at];
          ASSERT_TRUE(member.sync->unlock(target, false).ok());
          break;
        default:
          ASSERT_TRUE(member.sync->lock(target, true).ok());
          EXPECT_EQ(++exclusive[at], 1);
          EXPECT_EQ(shared[at].load(), 0);
          EXPECT_EQ(all.load(), 0);
          std::this_thread::yield();
          --exclusive[at];
          ASSERT_TRUE(member.sync->unlock(target, true).ok());
      }
    }
    rest.serve(rank);
  });
}

// Every process holds locks of all others at a time; with nothing but first come, first served they would wait in a
// ring.
TEST_P(Locks, OfSeveralTargetsAreHeldAtATime) {
  constexpr int kProcesses = 3, kTimes = 40;
  WindowWorld world(kProcesses, 64, faults(GetParam()));
  Rest rest(world);
  world.run([&](int rank) {
    Member& member = world[rank];
    for (int time = 0; time < kTimes; ++time) {
      if (rank == 2 && time % 2 == 0) {  // a writer between the readers
        ASSERT_TRUE(member.sync->lock(member.target(time / 2 % kProcesses), true).ok());
        ASSERT_TRUE(member.sync->unlock(member.target(time / 2 % kProcesses), true).ok());
        continue;
      }
      for (int i = 0; i < kProcesses; ++i)
        ASSERT_TRUE(member.sync->lock(member.target((rank + i) % kProcesses), false).ok());
      for (int i = 0; i < kProcesses; ++i)
        ASSERT_TRUE(member.sync->unlock(member.target((rank + i) % kProcesses), false).ok());
    }
    rest.serve(rank);
  });
}

TEST(LockFailures, EndTheWaitsOfOthers) {
  WindowWorld world(3, 64);
  Rest rest(world);
  std::atomic<bool> held{false};
  world.run([&](int rank) {
    Member& member = world[rank];
    if (rank == 1) {
      ASSERT_TRUE(member.sync->lock(member.target(2), true).ok());
      held.store(true);
      ++rest.over;
      world.world.network().kill(1);
      return;
    }
    if (rank == 0) {
      while (!held.load()) {  // rank 1 also asks rank 0, which keeps the lock between lock_all and exclusive locks
        member.process.poll();
        std::this_thread::yield();
      }
      const Status outcome = member.sync->lock(member.target(2), false);
      EXPECT_EQ(outcome.mpi_class(), MPI_ERR_PROC_ABORTED) << outcome.text();
    }
    rest.serve(rank);
  });
}

}  // namespace
}  // namespace ashlar::test
