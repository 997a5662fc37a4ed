// Locks, PSCW and fences of both components, in the library's own code, with virtual ranks in any order.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <set>

#include "tests/sim/extent.h"
#include "tests/sim/rma/memory.h"
#include "tests/sim/rma/messages.h"

namespace ashlar::sim {
namespace {

template <class Ranks>
class Protocols : public testing::Test {};
using Components = testing::Types<MessageRanks, MemoryRanks, TicketMemoryRanks>;
TYPED_TEST_SUITE(Protocols, Components);

template <class Ranks>
class Fences : public testing::Test {};
using Barriers = testing::Types<MessageRanks, MemoryRanks, CentralMemoryRanks>;
TYPED_TEST_SUITE(Fences, Barriers);

struct Size {
  int ranks;
  unsigned seeds;
  int times;
};
constexpr std::array<Size, 4> kSizes = {{{2, 60, 20}, {5, 60, 12}, {64, 6, 8}, {at_scale(4096), 1, 2}}};

/// Who is where, seen by all: a rank that goes wrong is found by the next one.
struct Holders {
  explicit Holders(int ranks) : shared(static_cast<std::size_t>(ranks)), exclusive(shared.size()) {}
  void check() const {
    for (std::size_t at = 0; at < shared.size(); ++at) check(at);
  }
  void check(std::size_t at) const {
    EXPECT_LE(exclusive[at], 1);
    EXPECT_TRUE(exclusive[at] == 0 || shared[at] == 0) << "of rank " << at;
    EXPECT_TRUE(exclusive[at] == 0 || all == 0) << "an epoch to all beside an exclusive lock of rank " << at;
  }
  std::vector<int> shared, exclusive;
  int all = 0;
};

/// A program of locks. Returns the first failure.
template <class Ranks>
Status lock_randomly(Ranks& ranks, Holders& holders, Rank me, int times) {
  Fibers& fibers = ranks.fibers;
  rma::Sync& sync = ranks.sync(me);
  // Few targets, so that ranks meet.
  const std::uint64_t targets = std::min<std::uint64_t>(holders.shared.size(), 8);
  for (int time = 0; time < times; ++time) {
    const std::size_t at = fibers.random(targets);
    rma::Target& target = ranks.target(me, static_cast<Rank>(at));
    const std::uint64_t kind = fibers.random(4);
    if (kind == 0) {
      ASHLAR_TRY(sync.lock_all());
      ++holders.all;
    } else {
      ASHLAR_TRY(sync.lock(target, kind == 1));
      ++(kind == 1 ? holders.exclusive : holders.shared)[at];
      ++ranks.window(me).epochs.locks;
    }
    holders.check(at);
    for (std::uint64_t turns = fibers.random(3); turns > 0; --turns) fibers.yield();
    holders.check(at);
    if (kind == 0) {
      --holders.all;
      ASHLAR_TRY(sync.unlock_all());
    } else {
      --(kind == 1 ? holders.exclusive : holders.shared)[at];
      --ranks.window(me).epochs.locks;
      ASHLAR_TRY(sync.unlock(target, kind == 1));
    }
  }
  return {};
}

TYPED_TEST(Protocols, LocksExcludeEachOtherAndAreAllGranted) {
  for (const Size& size : kSizes) {
    for (unsigned seed = 1; seed <= size.seeds; ++seed) {
      Fibers fibers(size.ranks, seed);
      TypeParam ranks(size.ranks, fibers);
      Holders holders(size.ranks);
      const bool all = fibers.run(
          [&](Rank me) { EXPECT_TRUE(lock_randomly(ranks, holders, me, size.times).ok()) << "rank " << me; });
      ASSERT_TRUE(all) << size.ranks << " ranks, seed " << seed << ": " << fibers.stuck();
      holders.check();
      if (this->HasFailure()) FAIL() << size.ranks << " ranks, seed " << seed;
    }
  }
}

/// Readers that hold several locks at once, in any order, beside writers of one lock each.
template <class Ranks>
Status share_several(Ranks& ranks, Holders& holders, Rank me, int times) {
  Fibers& fibers = ranks.fibers;
  rma::Sync& sync = ranks.sync(me);
  std::uint32_t& locks = ranks.window(me).epochs.locks;
  const std::uint64_t targets = std::min<std::uint64_t>(holders.shared.size(), 4);
  for (int time = 0; time < times; ++time) {
    const bool exclusive = fibers.random(3) == 0;
    std::set<std::size_t> wanted;
    for (std::uint64_t more = exclusive ? 1 : 1 + fibers.random(targets); more > 0; --more)
      wanted.insert(fibers.random(targets));
    std::vector<std::size_t> order(wanted.begin(), wanted.end());
    if (fibers.random(2) == 0) std::ranges::reverse(order);
    for (const std::size_t at : order) {
      ++locks;
      ASHLAR_TRY(sync.lock(ranks.target(me, static_cast<Rank>(at)), exclusive));
      ++(exclusive ? holders.exclusive : holders.shared)[at];
      holders.check(at);
      if (fibers.random(2) == 0) fibers.yield();
    }
    for (const std::size_t at : order) {
      holders.check(at);
      --(exclusive ? holders.exclusive : holders.shared)[at];
      ASHLAR_TRY(sync.unlock(ranks.target(me, static_cast<Rank>(at)), exclusive));
      --locks;
    }
  }
  return {};
}

TYPED_TEST(Protocols, ReadersOfSeveralLocksDoNotWaitForEachOther) {
  for (const Size& size : kSizes) {
    if (size.ranks > 64) continue;  // all of them at four locks
    for (unsigned seed = 1; seed <= 4 * size.seeds; ++seed) {
      Fibers fibers(size.ranks, seed);
      TypeParam ranks(size.ranks, fibers);
      Holders holders(size.ranks);
      const bool all = fibers.run(
          [&](Rank me) { EXPECT_TRUE(share_several(ranks, holders, me, size.times).ok()) << "rank " << me; });
      ASSERT_TRUE(all) << size.ranks << " ranks, seed " << seed << ": " << fibers.stuck();
      if (this->HasFailure()) FAIL() << size.ranks << " ranks, seed " << seed;
    }
  }
}

// Whatever the dead rank held: the others end, with the locks or with a failure.
TYPED_TEST(Protocols, ADeathEndsEveryWaitForALock) {
  for (const Size& size : kSizes) {
    for (unsigned seed = 1; seed <= size.seeds; ++seed) {
      std::mt19937 random(seed);
      Fibers fibers(size.ranks, seed,
                    {.dies = static_cast<Rank>(random() % static_cast<unsigned>(std::min(size.ranks, 8))),
                     .dies_after = random() % (static_cast<unsigned>(size.ranks * size.times) * 8)});
      TypeParam ranks(size.ranks, fibers);
      Holders holders(size.ranks);
      int failed = 0;
      const bool all = fibers.run([&](Rank me) {
        const Status outcome = lock_randomly(ranks, holders, me, size.times);
        if (outcome.ok()) return;
        ++failed;
        EXPECT_EQ(outcome.mpi_class(), MPI_ERR_PROC_ABORTED) << outcome.text();
      });
      ASSERT_TRUE(all) << size.ranks << " ranks, seed " << seed << ": " << fibers.stuck();
    }
  }
}

/// Exclusive locks of rank 0. Returns the most that one rank got while another one waited.
int most_before_a_waiting_rank(int ranks, unsigned seed, const rma::shm::LockLimits& limits, int times) {
  Fibers fibers(ranks, seed);
  MemoryRanks members(ranks, fibers, false, limits);
  const auto count = static_cast<std::size_t>(ranks);
  std::vector<bool> waits(count);
  std::vector<std::vector<int>> before(count, std::vector<int>(count));  // [waiting][came first]
  int most = 0;
  EXPECT_TRUE(fibers.run([&](Rank me) {
    const auto own = static_cast<std::size_t>(me);
    for (int time = 0; time < times; ++time) {
      std::ranges::fill(before[own], 0);
      waits[own] = true;
      EXPECT_TRUE(members.sync(me).lock(members.target(me, 0), true).ok());
      waits[own] = false;
      for (std::size_t other = 0; other < count; ++other)
        if (waits[other]) most = std::max(most, ++before[other][own]);
      if (fibers.random(2) == 0) fibers.yield();
      EXPECT_TRUE(members.sync(me).unlock(members.target(me, 0), true).ok());
      if (fibers.random(2) == 0) fibers.yield();
    }
  })) << fibers.stuck();
  return most;
}

TEST(LockLimits, AWriterComesBackPastThoseThatWaitSoOftenAndNoMore) {
  for (const int ranks : {2, 3, 16}) {
    for (const unsigned again : {0u, 1u, 3u}) {
      int most = 0;
      for (unsigned seed = 1; seed <= 20; ++seed)
        most = std::max(most, most_before_a_waiting_rank(ranks, seed, {.again = again}, 40));
      EXPECT_LE(most, static_cast<int>(again) + 1) << ranks << " ranks";
      if (ranks != 2) continue;  // where more wait some sleep, and then the lock is theirs
      EXPECT_EQ(most, static_cast<int>(again) + 1);
    }
  }
}

bool contains(const std::vector<Rank>& ranks, Rank rank) { return std::ranges::find(ranks, rank) != ranks.end(); }

/// How far every rank is with its epochs of PSCW, and whom it waits for.
struct Neighbours {
  explicit Neighbours(int ranks)
      : posted(static_cast<std::size_t>(ranks)),
        completed(posted.size()),
        targets(posted.size()),
        origins(posted.size()) {}
  std::vector<int> posted, completed;               // epochs
  std::vector<std::vector<Rank>> targets, origins;  // of MPI_Win_start, MPI_Win_wait; empty: not in there
};

/// Epochs of PSCW between neighbours, at distances that differ from one to the next: a post for the next epoch comes
/// while this one is not complete.
template <class Ranks>
Status exchange(Ranks& ranks, Rank me, int size, int epochs, Neighbours& all, unsigned seed) {
  const auto own = static_cast<std::size_t>(me);
  std::mt19937 alike(seed);  // the same on every rank
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    std::set<int> distances;
    for (int i = 0; i < 3; ++i) distances.insert(static_cast<int>(alike() % static_cast<unsigned>(size)));
    std::vector<Rank> origins, targets;
    for (const int distance : distances) {
      targets.push_back((me + distance) % size);
      origins.push_back((me - distance + size) % size);
    }
    all.posted[own] = epoch;
    ASHLAR_TRY(ranks.sync(me).post(origins, false));
    if (ranks.fibers.random(2) == 0) ranks.fibers.yield();
    all.targets[own] = targets;
    ASHLAR_TRY(ranks.sync(me).start(targets, false));
    all.targets[own].clear();
    for (const Rank target : targets)
      EXPECT_GE(all.posted[static_cast<std::size_t>(target)], epoch) << "rank " << target << " has not posted";
    if (ranks.fibers.random(2) == 0) ranks.fibers.yield();
    all.completed[own] = epoch;
    ASHLAR_TRY(ranks.sync(me).complete(targets));
    bool over = false;
    while (ranks.fibers.random(3) == 0 && !over) {  // MPI_Win_test
      ASHLAR_TRY(ranks.sync(me).exposure_over(origins, false, &over));
      if (!over) ranks.fibers.yield();
    }
    all.origins[own] = origins;
    if (!over) ASHLAR_TRY(ranks.sync(me).exposure_over(origins, true, &over));
    all.origins[own].clear();
    EXPECT_TRUE(over);
    for (const Rank origin : origins)
      EXPECT_GE(all.completed[static_cast<std::size_t>(origin)], epoch) << "rank " << origin << " has not completed";
  }
  return {};
}

TYPED_TEST(Protocols, PostsAndCompletionsOfOneEpochAreNotThoseOfAnother) {
  for (const Size& size : kSizes) {
    for (unsigned seed = 1; seed <= size.seeds; ++seed) {
      Fibers fibers(size.ranks, seed);
      TypeParam ranks(size.ranks, fibers);
      Neighbours neighbours(size.ranks);
      const bool all = fibers.run([&](Rank me) {
        EXPECT_TRUE(exchange(ranks, me, size.ranks, size.times, neighbours, seed).ok()) << "rank " << me;
      });
      ASSERT_TRUE(all) << size.ranks << " ranks, seed " << seed << ": " << fibers.stuck();
      if (this->HasFailure()) FAIL() << size.ranks << " ranks, seed " << seed;
    }
  }
}

// A rank that fails leaves its own neighbours waiting, which is the program's matter; none waits for the dead one.
TYPED_TEST(Protocols, ADeathEndsEveryEpochOfItsNeighbours) {
  for (const Size& size : kSizes) {
    for (unsigned seed = 1; seed <= size.seeds; ++seed) {
      std::mt19937 random(seed);
      Fibers fibers(size.ranks, seed,
                    {.dies = static_cast<Rank>(random() % static_cast<unsigned>(size.ranks)),
                     .dies_after = random() % (static_cast<unsigned>(size.ranks * size.times) * 4)});
      TypeParam ranks(size.ranks, fibers);
      Neighbours neighbours(size.ranks);
      const bool all = fibers.run([&](Rank me) {
        const Status outcome = exchange(ranks, me, size.ranks, size.times, neighbours, seed);
        EXPECT_TRUE(outcome.ok() || outcome.mpi_class() == MPI_ERR_PROC_ABORTED) << outcome.text();
      });
      if (!TypeParam::kSendsMessages) {
        ASSERT_TRUE(all) << size.ranks << " ranks, seed " << seed << ": " << fibers.stuck();
      }
      const Rank dead = fibers.who_dies();
      const auto at = static_cast<std::size_t>(dead);
      for (Rank rank = 0; rank < size.ranks; ++rank) {
        const auto own = static_cast<std::size_t>(rank);
        if (fibers.done(rank) || fibers.dead(rank)) continue;
        EXPECT_TRUE(!contains(neighbours.targets[own], dead) || neighbours.posted[at] >= neighbours.posted[own])
            << "rank " << rank << " of " << size.ranks << " waits for a post of the dead, seed " << seed;
        EXPECT_TRUE(!contains(neighbours.origins[own], dead) || neighbours.completed[at] >= neighbours.completed[own])
            << "rank " << rank << " of " << size.ranks << " waits for a completion of the dead, seed " << seed;
      }
    }
  }
}

TYPED_TEST(Fences, NoRankLeavesAFenceBeforeAllHaveCome) {
  for (const Size& size : kSizes) {
    for (unsigned seed = 1; seed <= size.seeds; ++seed) {
      Fibers fibers(size.ranks, seed);
      TypeParam ranks(size.ranks, fibers);
      std::vector<int> come(static_cast<std::size_t>(size.times) + 1);
      const bool all = fibers.run([&](Rank me) {
        for (int time = 1; time <= size.times; ++time) {
          ++come[static_cast<std::size_t>(time)];
          EXPECT_TRUE(ranks.sync(me).barrier("MPI_Win_fence").ok());
          EXPECT_EQ(come[static_cast<std::size_t>(time)], size.ranks) << "fence " << time << ", rank " << me;
          if (fibers.random(2) == 0) fibers.yield();
        }
      });
      ASSERT_TRUE(all) << size.ranks << " ranks, seed " << seed << ": " << fibers.stuck();
    }
  }
}

TYPED_TEST(Fences, ADeathEndsEveryFence) {
  for (const Size& size : kSizes) {
    for (unsigned seed = 1; seed <= size.seeds; ++seed) {
      std::mt19937 random(seed);
      Fibers fibers(size.ranks, seed,
                    {.dies = static_cast<Rank>(random() % static_cast<unsigned>(size.ranks)),
                     .dies_after = random() % (static_cast<unsigned>(size.ranks * size.times) * 2)});
      TypeParam ranks(size.ranks, fibers);
      const bool all = fibers.run([&](Rank me) {
        for (int time = 0; time < size.times; ++time) {
          const Status outcome = ranks.sync(me).barrier("MPI_Win_fence");
          EXPECT_TRUE(outcome.ok() || outcome.mpi_class() == MPI_ERR_PROC_ABORTED) << outcome.text();
          if (!outcome.ok()) return;
        }
      });
      ASSERT_TRUE(all) << size.ranks << " ranks, seed " << seed << ": " << fibers.stuck();
    }
  }
}

}  // namespace
}  // namespace ashlar::sim
