// What a Sync owes (framework/rma/sync.h), and the choice of one.
#include <mpi.h>

#include <array>
#include <atomic>
#include <thread>

#include "framework/rma/guard.h"
#include "tests/conformance/rma/suite.h"

namespace ashlar::test {
namespace {

using SyncTest = RmaTest;
INSTANTIATE_TEST_SUITE_P(, SyncTest, testing::ValuesIn(rma_cases()), name_of);

/// Of the regions of a dynamic window it is found at each access.
class DisciplineTest : public RmaTest {};
INSTANTIATE_TEST_SUITE_P(, DisciplineTest, testing::ValuesIn(rma_cases({Memory::kHeap, Memory::kPrivate})), name_of);

TEST_P(SyncTest, ABarrierIsLeftWhenAllHaveCome) {
  constexpr int kTimes = 30;
  RmaWorld world(kRanks, kBytes, options(), GetParam().memory);
  std::array<std::atomic<int>, kTimes> come{};
  world.run([&](int me) {
    for (std::atomic<int>& time : come) {
      ++time;
      ASSERT_TRUE(world.sync(me).barrier("MPI_Win_fence").ok());
      ASSERT_EQ(time.load(), kRanks);
    }
  });
}

// The origin has not come when the target posts; the target does not wait when the origin completes.
TEST_P(SyncTest, PostAndCompleteDoNotWait) {
  RmaWorld world(2, kBytes, options(), GetParam().memory);
  std::atomic<bool> posted{false}, completed{false};
  world.run([&](int me) {
    const Rank other[] = {1 - me};
    bool over = false;
    if (me == 0) {
      ASSERT_TRUE(world.sync(0).post(other, false).ok());
      posted = true;
      while (!completed) {
        ASSERT_TRUE(world.sync(0).exposure_over(other, false, &over).ok());
        if (over) break;
        world.poll(0);
      }
      if (!over) {
        ASSERT_TRUE(world.sync(0).exposure_over(other, true, &over).ok());
      }
      EXPECT_TRUE(over);
    } else {
      while (!posted) world.poll(1);
      ASSERT_TRUE(world.sync(1).start(other, false).ok());
      ASSERT_TRUE(world.sync(1).complete(other).ok());
      completed = true;
    }
  });
}

TEST_P(SyncTest, StartWaitsForThePostOfItsEpoch) {
  constexpr int kEpochs = 40;
  RmaWorld world(kRanks, kBytes, options(), GetParam().memory);
  std::array<std::atomic<int>, kRanks> posted{}, completed{};
  world.run([&](int me) {
    std::mt19937 alike(GetParam().seed), random = random_of(me);
    const auto own = static_cast<std::size_t>(me);
    for (int epoch = 1; epoch <= kEpochs; ++epoch) {
      // The next neighbour, or the one behind it, or both: the post for an epoch may come before the last one is over.
      std::vector<Rank> origins, targets;
      const unsigned which = 1 + static_cast<unsigned>(alike() % 3);
      for (int distance = 1; distance <= 2; ++distance) {
        if ((which >> (distance - 1) & 1) == 0) continue;
        targets.push_back((me + distance) % kRanks);
        origins.push_back((me + kRanks - distance) % kRanks);
      }
      posted[own] = epoch;
      ASSERT_TRUE(world.sync(me).post(origins, false).ok());
      ASSERT_TRUE(world.sync(me).start(targets, false).ok());
      for (const Rank target : targets) ASSERT_GE(posted[static_cast<std::size_t>(target)].load(), epoch);
      if (random() % 4 == 0) world.poll(me);
      completed[own] = epoch;
      ASSERT_TRUE(world.sync(me).complete(targets).ok());
      bool over = false;
      ASSERT_TRUE(world.sync(me).exposure_over(origins, true, &over).ok());
      ASSERT_TRUE(over);
      for (const Rank origin : origins) ASSERT_GE(completed[static_cast<std::size_t>(origin)].load(), epoch);
    }
  });
}

TEST_P(SyncTest, LocksExcludeEachOtherAndAreAllGranted) {
  constexpr int kTimes = 60;
  RmaWorld world(kRanks, kBytes, options(), GetParam().memory);
  std::array<std::atomic<int>, kRanks> shared{}, exclusive{};
  std::atomic<int> all{0};
  world.run([&](int me) {
    std::mt19937 random = random_of(me);
    for (int time = 0; time < kTimes; ++time) {
      const int of = static_cast<int>(random() % kRanks);
      const auto at = static_cast<std::size_t>(of);
      const unsigned kind = static_cast<unsigned>(random() % 4);
      if (kind == 0) {
        ASSERT_TRUE(world.sync(me).lock_all().ok());
        ++all;
        for (const auto& one : exclusive) EXPECT_EQ(one.load(), 0);
        world.poll(me);
        --all;
        ASSERT_TRUE(world.sync(me).unlock_all().ok());
      } else if (kind == 1) {
        ASSERT_TRUE(world.lock(me, of, true).ok());
        EXPECT_EQ(++exclusive[at], 1);
        EXPECT_EQ(shared[at].load(), 0);
        EXPECT_EQ(all.load(), 0);
        world.poll(me);
        --exclusive[at];
        ASSERT_TRUE(world.unlock(me, of, true).ok());
      } else {
        ASSERT_TRUE(world.lock(me, of, false).ok());
        ++shared[at];
        EXPECT_EQ(exclusive[at].load(), 0);
        world.poll(me);
        --shared[at];
        ASSERT_TRUE(world.unlock(me, of, false).ok());
      }
    }
  });
}

// Two ranks that hold a lock together meet inside it.
TEST_P(SyncTest, SharedLocksAreHeldTogether) {
  RmaWorld world(kRanks, kBytes, options(), GetParam().memory);
  for (const bool to_all : {false, true}) {
    std::atomic<int> inside{0};
    world.run([&](int me) {
      ASSERT_TRUE((to_all ? world.sync(me).lock_all() : world.lock(me, 1, false)).ok());
      ++inside;
      while (inside.load() < kRanks) world.poll(me);
      ASSERT_TRUE((to_all ? world.sync(me).unlock_all() : world.unlock(me, 1, false)).ok());
    });
  }
}

// Origins that take different disciplines for one memory would lose updates. The owner alone may be stricter.
TEST_P(DisciplineTest, OfAMemoryIsTheSameForAllOrigins) {
  RmaWorld world(kRanks, kBytes, options(), GetParam().memory);
  for (int of = 0; of < kRanks; ++of) {
    const rma::Guard::Kind kind = world.sync((of + 1) % kRanks).guard(of).kind;
    for (int me = 0; me < kRanks; ++me) {
      const rma::Guard guard = world.sync(me).guard(of);
      if (me == of && world.window(me).own_guard != nullptr) continue;
      EXPECT_EQ(guard.kind, kind) << "of " << of << " at " << me;
      EXPECT_EQ(guard.line != nullptr, kind != rma::Guard::Kind::kOwner);
    }
  }
}

// A wait for a process that is gone ends with a failure.
TEST_P(SyncTest, ADeathEndsTheWaitForAPost) {
  RmaWorld world(2, kBytes, options(), GetParam().memory);
  std::atomic<bool> waits{false};
  world.run([&](int me) {
    if (me == 1) {
      while (!waits) world.poll(1);
      world.network().kill(1);
      return;
    }
    const Rank other[] = {1};
    waits = true;
    const Status outcome = world.sync(0).start(other, false);
    EXPECT_EQ(outcome.mpi_class(), MPI_ERR_PROC_ABORTED) << outcome.text();
  });
}

}  // namespace
}  // namespace ashlar::test
