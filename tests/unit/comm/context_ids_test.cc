// Agreement on context ids among several ContextIds, each of which stands for a process.
#include "framework/comm/context_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <barrier>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace ashlar::comm {
namespace {

/// Lets `members` agree, each in a thread of its own, with reductions over shared memory.
std::vector<std::uint32_t> agree_all(const std::vector<ContextIds*>& members, std::int64_t span) {
  std::vector<std::vector<std::int64_t>> given(members.size());
  std::vector<std::uint32_t> context(members.size());
  std::barrier everyone(static_cast<std::ptrdiff_t>(members.size()));
  std::vector<std::thread> threads;
  for (std::size_t m = 0; m < members.size(); ++m)
    threads.emplace_back([&, m] {
      const auto max_over = [&](std::int64_t* values, int n) -> Status {
        given[m].assign(values, values + n);
        everyone.arrive_and_wait();
        for (int i = 0; i < n; ++i)
          for (const auto& other : given) values[i] = std::max(values[i], other[static_cast<std::size_t>(i)]);
        everyone.arrive_and_wait();
        return {};
      };
      EXPECT_TRUE(agree_with(*members[m], max_over, span, &context[m]).ok());
    });
  for (std::thread& thread : threads) thread.join();
  return context;
}

TEST(ContextIds, AreTakenUpwardsAndNeverTwice) {
  ContextIds ids;
  EXPECT_EQ(ids.propose().next, ContextIds::kFirst);
  EXPECT_EQ(ids.propose().threads, 0);
  EXPECT_TRUE(ids.claim(ContextIds::kFirst, ContextIds::kFirst + 8));
  EXPECT_FALSE(ids.claim(ContextIds::kFirst, ContextIds::kFirst + 2));
  EXPECT_FALSE(ids.claim(ContextIds::kFirst + 6, ContextIds::kFirst + 14));
  EXPECT_EQ(ids.propose().next, ContextIds::kFirst + 8);
  // Others may be further on; what lies between is not used any more.
  EXPECT_TRUE(ids.claim(1000, 1002));
  EXPECT_EQ(ids.propose().next, 1002);
}

TEST(ContextIds, AnAgreementEndsAtTheLargestProposal) {
  ContextIds one, two, three;
  ASSERT_TRUE(two.claim(500, 508));
  EXPECT_EQ(agree_all({&one, &two, &three}, 8), (std::vector<std::uint32_t>{508, 508, 508}));
  for (ContextIds* ids : {&one, &two, &three}) EXPECT_EQ(ids->propose().next, 516);
  // Disjoint groups may use the same numbers: only processes of both must not.
  EXPECT_EQ(agree_all({&one, &three}, 2)[0], agree_all({&two}, 2)[0]);
}

TEST(ContextIds, NoProcessUsesANumberTwiceWhateverGroupsAgree) {
  constexpr int kProcesses = 4;
  std::vector<ContextIds> ids(kProcesses);
  std::vector<std::set<std::int64_t>> used(kProcesses);
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<ContextIds*> members;
    std::vector<std::size_t> ranks;
    for (std::size_t p = 0; p < kProcesses; ++p)
      if (random() % 2 != 0) {
        members.push_back(&ids[p]);
        ranks.push_back(p);
      }
    if (members.empty()) continue;
    const std::int64_t span = std::int64_t{2} << random() % 4;
    const std::vector<std::uint32_t> context = agree_all(members, span);
    for (std::size_t m = 0; m < members.size(); ++m) {
      EXPECT_EQ(context[m], context[0]);
      for (std::int64_t id = context[m]; id < context[m] + span; id += ContextIds::kStep)
        EXPECT_TRUE(used[ranks[m]].insert(id).second) << "process " << ranks[m] << " has " << id << " twice";
    }
  }
}

// A peer whose other agreement took the numbers meanwhile refuses; all repeat the round above them.
TEST(ContextIds, ARefusalOfAnyMemberRepeatsTheRound) {
  ContextIds ids;
  const auto first = static_cast<std::int64_t>(ContextIds::kFirst);
  int round = 0;
  const auto scripted = [&](std::int64_t* values, int n) -> Status {
    switch (round++) {
      case 0:  // the peer proposes less, and has threads
        EXPECT_EQ(n, 2);
        EXPECT_EQ(values[0], first);
        values[1] = 1;
        return {};
      case 1:  // and refuses
        EXPECT_EQ(n, 1);
        EXPECT_EQ(values[0], 0);
        values[0] = 1;
        return {};
      case 2:
        EXPECT_GE(values[0], first + 8);
        values[1] = 1;
        return {};
      default:
        EXPECT_EQ(values[0], 0);
        return {};
    }
  };
  std::uint32_t context = 0;
  ASSERT_TRUE(agree_with(ids, scripted, 8, &context).ok());
  EXPECT_EQ(round, 4);
  EXPECT_EQ(context, first + 8);
}

TEST(ContextIds, AnAgreementInFlightMakesOthersConfirm) {
  ContextIds ids;
  ids.set_in_flight(+1);
  EXPECT_EQ(ids.propose().threads, 1);
  ids.set_in_flight(-1);
  EXPECT_EQ(ids.propose().threads, 0);
}

TEST(ContextIds, ExhaustionFailsAndTakesNothing) {
  ContextIds ids;
  const auto at_the_end = [](std::int64_t* values, int) -> Status {
    values[0] = ContextIds::kEnd - 2;
    return {};
  };
  std::uint32_t context = 7;
  const Status failed = agree_with(ids, at_the_end, 8, &context);
  EXPECT_EQ(failed.mpi_class(), MPI_ERR_OTHER);
  EXPECT_THAT(failed.text(), testing::HasSubstr("no context id is left"));
  EXPECT_EQ(context, 7u);
  EXPECT_EQ(ids.propose().next, ContextIds::kFirst);
  EXPECT_TRUE(ids_left(ContextIds::kEnd - 2, 2).ok());
}

TEST(ContextIds, AFailedReductionEndsTheAgreement) {
  ContextIds ids;
  const auto broken = [](std::int64_t*, int) -> Status {
    return Status::fail_text(MPI_ERR_PROC_ABORTED, "rank 3 is gone");
  };
  std::uint32_t context = 0;
  EXPECT_EQ(agree_with(ids, broken, 2, &context).mpi_class(), MPI_ERR_PROC_ABORTED);
  EXPECT_EQ(ids.propose().next, ContextIds::kFirst);
}

}  // namespace
}  // namespace ashlar::comm
