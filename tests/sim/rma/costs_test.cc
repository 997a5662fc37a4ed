// What the protocols send, in closed form, from 2 to 4,096 ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <bit>
#include <cstring>

#include "framework/datatype/datatype.h"
#include "tests/sim/extent.h"
#include "tests/sim/rma/memory.h"
#include "tests/sim/rma/messages.h"

namespace ashlar::sim {
namespace {

constexpr int kSizes[] = {2, 3, 16, 257, at_scale(4096)};

/// Messages of one run of `part` on every rank.
template <class Ranks, class Part>
std::uint64_t cost_of(int size, Part part) {
  Fibers fibers(size, 1);
  Ranks ranks(size, fibers);
  EXPECT_TRUE(fibers.run([&](Rank me) { part(ranks, me); })) << fibers.stuck();
  return ranks.messages();
}

void lock_all(auto& ranks, Rank me) {
  EXPECT_TRUE(ranks.sync(me).lock_all().ok());
  EXPECT_TRUE(ranks.sync(me).unlock_all().ok());
}

// A request, its answer and the release, however many targets there are.
TEST(MessageCosts, AnEpochToAllIsThreeMessages) {
  for (const int size : kSizes)
    EXPECT_EQ(cost_of<MessageRanks>(size, [](MessageRanks& ranks, Rank me) { lock_all(ranks, me); }),
              3u * static_cast<unsigned>(size));
}

TEST(MessageCosts, ASharedLockIsThreeMessagesAndAnExclusiveOneSix) {
  for (const int size : kSizes) {
    for (const bool exclusive : {false, true}) {
      const auto once = [&](MessageRanks& ranks, Rank me) {
        if (me != size - 1) return;
        EXPECT_TRUE(ranks.sync(me).lock(ranks.target(me, size / 2), exclusive).ok());
        EXPECT_TRUE(ranks.sync(me).unlock(ranks.target(me, size / 2), exclusive).ok());
      };
      EXPECT_EQ(cost_of<MessageRanks>(size, once), exclusive ? 6u : 3u);
    }
  }
}

// One post and one completion for each pair.
TEST(MessageCosts, AnEpochOfPscwIsTwoMessagesForEachNeighbour) {
  for (const int size : kSizes) {
    for (const int neighbours : {1, 2, 4}) {
      if (neighbours >= size) continue;
      const auto ring = [&](MessageRanks& ranks, Rank me) {
        std::vector<Rank> origins, targets;
        for (int i = 1; i <= neighbours; ++i) {
          targets.push_back((me + i) % size);
          origins.push_back((me + size - i) % size);
        }
        bool over = false;
        EXPECT_TRUE(ranks.sync(me).post(origins, false).ok());
        EXPECT_TRUE(ranks.sync(me).start(targets, false).ok());
        EXPECT_TRUE(ranks.sync(me).complete(targets).ok());
        EXPECT_TRUE(ranks.sync(me).exposure_over(origins, true, &over).ok());
      };
      EXPECT_EQ(cost_of<MessageRanks>(size, ring), 2u * static_cast<unsigned>(size * neighbours));
    }
  }
}

// Put, ping and pong; of a get its answer is that. A flush with nothing under way sends nothing.
TEST(MessageCosts, AFlushIsAPingAndItsAnswer) {
  for (const bool puts : {true, false}) {
    for (const int size : kSizes) {
      const auto ring = [&](MessageRanks& ranks, Rank me) {
        std::uint64_t word = static_cast<std::uint64_t>(me);
        Datatype& byte = datatype::predefined(MPI_BYTE);
        rma::Target& target = ranks.target(me, (me + 1) % size);
        const rma::Access access{.window = ranks.window(me),
                                 .target = target,
                                 .origin = {.data = &word, .count = sizeof word, .type = &byte},
                                 .place = {.offset = 8, .count = sizeof word, .type = &byte},
                                 .done = nullptr};
        EXPECT_TRUE((puts ? rma::am::asked.put(access) : rma::am::asked.get(access)).ok());
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(rma::am::asked.flush(ranks.window(me), target, true).ok());
        std::uint64_t there = 0;
        std::memcpy(&there, ranks.memory(target.rank).data() + 8, sizeof there);
        EXPECT_EQ(there, puts ? static_cast<std::uint64_t>(me) : word);
      };
      EXPECT_EQ(cost_of<MessageRanks>(size, ring), (puts ? 3u : 2u) * static_cast<unsigned>(size));
    }
  }
}

// Nothing is sent but wake-ups, and none where no rank sleeps.
TEST(MemoryCosts, FreeLocksAndEpochsToAllWakeNoRank) {
  for (const int size : kSizes) {
    EXPECT_EQ(cost_of<MemoryRanks>(size, [](MemoryRanks& ranks, Rank me) { lock_all(ranks, me); }), 0u);
    const auto own = [](MemoryRanks& ranks, Rank me) {
      EXPECT_TRUE(ranks.sync(me).lock(ranks.target(me, me), true).ok());
      EXPECT_TRUE(ranks.sync(me).unlock(ranks.target(me, me), true).ok());
    };
    EXPECT_EQ(cost_of<MemoryRanks>(size, own), 0u);
  }
}

// The last one to come wakes those that sleep, each once; or in each round at most the one that waits for it.
TEST(MemoryCosts, AFenceWakesEachSleeperOnce) {
  const auto fence = [](auto& ranks, Rank me) { EXPECT_TRUE(ranks.sync(me).barrier("MPI_Win_fence").ok()); };
  for (const int size : kSizes) {
    const auto ranks = static_cast<unsigned>(size);
    EXPECT_LE(cost_of<CentralMemoryRanks>(size, fence), ranks - 1);
    EXPECT_LE(cost_of<MemoryRanks>(size, fence), ranks * static_cast<unsigned>(std::bit_width(ranks - 1)));
  }
}

}  // namespace
}  // namespace ashlar::sim
