#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/unit/coll_shm/world.h"

// Ranks that are threads: the memory orders of flags, slots and arrival, on one buffer.
namespace ashlar::coll::shm {
namespace {

constexpr int kRounds = 2000;

template <class Wait>
bool wait_for(Wait& wait) {
  while (!poll(wait)) std::this_thread::yield();
  return end(wait).ok();
}

std::int64_t value(std::uint32_t rank, int round) { return std::int64_t{round} * 1000 + rank; }

/// An allreduce of one word and a broadcast from a root that changes, whose readers may lag behind. Returns wrong
/// values.
int run(Member& member, std::uint32_t ranks) {
  int wrong = 0;
  const auto me = static_cast<std::uint32_t>(member.me);
  for (int round = 0; round < kRounds; ++round) {
    const Call sum_call = call_of(Collective::kAllreduce);
    const Ticket sum = Ticket::take(member, sum_call, {.own = 8, .any = 8}, 1);
    SlotWait slot(sum);
    if (!wait_for(slot)) return -1;
    sum.record_call();
    const std::int64_t mine = value(me, round);
    std::memcpy(sum.payload(me, 8), &mine, sizeof mine);
    publish(sum);
    arrive(sum);
    FlagWait all = FlagWait::all_arrived(sum);
    if (!wait_for(all)) return -1;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      std::int64_t theirs = 0;
      std::memcpy(&theirs, sum.payload(r, 8), sizeof theirs);
      wrong += theirs != value(r, round);
    }
    note_all_arrived(sum);
    done(sum);

    const Rank root = round % static_cast<int>(ranks);
    const Call bcast_call = call_of(Collective::kBcast, root, 64);
    const Ticket bcast = Ticket::take(member, bcast_call, {.own = 64, .any = 64}, 1);
    SlotWait buffer(bcast);
    if (!wait_for(buffer)) return -1;
    bcast.record_call();
    if (member.me == root) {
      std::memset(bcast.result_buffer(), round & 0xff, 64);
      publish_result_and_wake(bcast);
    } else {
      FlagWait wait = FlagWait::result_from(bcast, root);
      if (!wait_for(wait)) return -1;
      wrong += bcast.result_buffer()[63] != std::byte(round & 0xff);
    }
    done(bcast);
  }
  return wrong;
}

class Threads : public testing::TestWithParam<bool> {};

TEST_P(Threads, EveryRankReadsWhatWasPublished) {
  constexpr std::uint32_t kRanks = 4;
  World world(kRanks, GetParam());
  std::vector<int> wrong(kRanks, -2);
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < kRanks; ++r)
    threads.emplace_back([&world, &wrong, r] { wrong[r] = run(world[r], kRanks); });
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_EQ(wrong[r], 0) << "rank " << r;
}

INSTANTIATE_TEST_SUITE_P(Forms, Threads, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& form) { return form.param ? "Flat" : "Central"; });

}  // namespace
}  // namespace ashlar::coll::shm
