// What a launch component owes a process: a whole and true description of its job, its end with the job's, and
// surroundings that stay as they were.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <sstream>
#include <thread>

#include "tests/conformance/check/verdict.h"
#include "tests/conformance/launch/rank.h"

namespace ashlar::test {
namespace {

TEST_P(Job, TheJobIsDescribedWhole) {
  const ashlar_job& j = job();
  ASSERT_GE(j.ranks, 1u);
  EXPECT_LT(j.rank, j.ranks);
  EXPECT_LE(j.local_size, j.ranks);
  EXPECT_LT(j.local_rank, j.local_size);
  EXPECT_LT(j.node, j.nodes);
  EXPECT_LE(j.nodes, j.ranks);
  EXPECT_NE(std::memchr(j.job_id, 0, sizeof j.job_id), nullptr) << "job_id is not ended by a zero";
  EXPECT_NE(j.job_id[0], 0) << "job_id is empty";
  ASSERT_NE(j.launcher, nullptr);
  EXPECT_NE(*j.launcher, 0) << "launcher, which people read, is empty";
  ASSERT_NE(j.placement, nullptr);
  EXPECT_LE(j.oversubscribed, 1u);
  EXPECT_LE(j.bound, 1u);
  if (j.nodes > 1) {
    ASSERT_NE(j.node_of_rank, nullptr) << "with several nodes, each rank's is needed";
  }
  if (j.node_of_rank) {
    EXPECT_EQ(j.node_of_rank[j.rank], j.node);
    for (std::uint32_t rank = 0; rank < j.ranks; ++rank) EXPECT_LT(j.node_of_rank[rank], j.nodes) << "rank " << rank;
  }
  if (j.local_peers) {
    EXPECT_TRUE(std::is_sorted(j.local_peers, j.local_peers + j.local_size)) << "local_peers must ascend";
    EXPECT_EQ(j.local_peers[j.local_rank], j.rank);
  } else {
    EXPECT_EQ(j.local_rank, j.rank) << "without local_peers the node has the ranks 0, 1, 2, ...";
  }
  for (std::uint32_t rank = 0; rank < j.ranks; ++rank) {
    const char* const host = ops().host_of(launch(), rank);
    EXPECT_TRUE(!host || *host) << "the host of rank " << rank << " is empty; unknown is NULL";
  }
}

TEST_P(Job, ItsMemoryAndDescriptorsAreTheRanksOwn) {
  const ashlar_job& j = job();
  if (j.shared_fd >= 0) {
    struct stat state {};
    EXPECT_EQ(fstat(j.shared_fd, &state), 0) << "shared_fd is not open";
    EXPECT_NE(fcntl(j.shared_fd, F_GETFD) & FD_CLOEXEC, 0) << "shared_fd is inherited by programs that the rank starts";
  }
  if (j.params) {
    EXPECT_EQ(std::strlen(j.params), j.params_bytes) << "params_bytes is the length of params";
    if (ops().parameters) {
      EXPECT_EQ(parameters(), j.params) << "parameters() gives others than connect()";
    }
  }
  EXPECT_EQ(j.tool_memory == nullptr, j.tool_bytes == 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(j.tool_memory) % static_cast<unsigned long>(sysconf(_SC_PAGESIZE)), 0u);
}

TEST_P(Job, EveryRankSaysTheSameOfTheJob) {
  const ashlar_job& j = job();
  const auto common = [&] {
    return std::string(j.job_id) + " " + std::to_string(j.cookie) + " " + std::to_string(j.ranks) + " " +
           std::to_string(j.nodes);
  };
  ASSERT_TRUE(put("check.common", common()));
  ASSERT_TRUE(put("check.place", std::to_string(j.node) + "." + std::to_string(j.local_rank)));
  ASSERT_TRUE(fence());
  std::set<std::string> places;
  for (std::uint32_t rank = 0; rank < j.ranks; ++rank) {
    EXPECT_TRUE(has(rank, "check.common", common()));
    char place[64];
    std::size_t bytes = sizeof place;
    ASSERT_TRUE(right(ops().get(launch(), rank, "check.place", place, &bytes)));
    const std::string at(place, bytes);
    EXPECT_TRUE(places.insert(at).second) << "two ranks are the same one of their node: " << at;
    if (j.node_of_rank) {
      EXPECT_EQ(at.substr(0, at.find('.')), std::to_string(j.node_of_rank[rank])) << "node of rank " << rank;
    }
  }
}

TEST_P(Job, PollReportsNoFailureWhileAllLive) {
  int failed = 0;
  ops().on_peer_failure(
      launch(), [](void* count, std::uint32_t, const char*) { ++*static_cast<int*>(count); }, &failed);
  ASSERT_TRUE(right(ops().initialized(launch())));
  for (int i = 0; i < 1000; ++i) ops().poll(launch());
  ASSERT_TRUE(right(ops().barrier(launch(), -1)));
  EXPECT_EQ(failed, 0);
}

TEST_P(Job, ItTakesTheAccountOfThisProcess) {
  if (ops().news) {
    std::uint32_t* const word = ops().news(launch());
    ASSERT_NE(word, nullptr);
    EXPECT_EQ(ops().news(launch()), word) << "the word of news() must stay where it is";
    ASSERT_NE(ops().asked, nullptr);
    ASSERT_NE(ops().answer, nullptr);
    EXPECT_EQ(ops().asked(launch()), 0) << "no question is open";
  }
  ASSERT_TRUE(right(ops().initialized(launch())));
  if (ops().in_use) ops().in_use(launch(), 1, 0);
  if (ops().moved) ops().moved(launch(), 1, 1);
  const std::string account(1024, 'x');
  if (ops().waits) ops().waits(launch(), account.data(), account.size());
  if (ops().moved) ops().moved(launch(), 2, 0);
  if (ops().in_use) ops().in_use(launch(), 0, 0);
}

TEST_P(Job, ProcessSetsNameRanksOfTheJob) {
  const char* const text = ops().process_sets ? ops().process_sets(launch()) : nullptr;
  if (!text) GTEST_SKIP() << "it knows none";
  std::istringstream sets(text);
  for (std::string set; std::getline(sets, set, ';');) {
    const std::size_t at = set.rfind('=');
    ASSERT_TRUE(at != std::string::npos && at > 0) << "NAME=RANKS is expected, not '" << set << "'";
    EXPECT_EQ(set.find_first_not_of("0123456789,-", at + 1), std::string::npos) << set;
    std::istringstream numbers(set.substr(at + 1));
    for (std::string number; std::getline(numbers, number, ',');) {
      const std::size_t dash = number.find('-');
      EXPECT_LT(std::stoul(dash == std::string::npos ? number : number.substr(dash + 1)), job().ranks) << set;
    }
  }
}

TEST_P(Job, LeavingWaitsForNoOtherRank) {
  ASSERT_TRUE(fence());
  if (job().rank == 0) {
    leave();
    mark("left", 0);
    return;
  }
  wait_for_mark("left", 0);
}

TEST_P(Job, NothingIsLeftBehind) {
  ASSERT_TRUE(put("check.key", "value"));
  ASSERT_TRUE(fence());
  leave();
  const Surroundings after = Surroundings::now();
  for (const std::string& variable : after.variables)
    EXPECT_TRUE(before().variables.contains(variable)) << "in the environment now: " << variable;
  for (const std::string& variable : before().variables)
    EXPECT_TRUE(after.variables.contains(variable)) << "no longer in the environment: " << variable;
  EXPECT_EQ(after.folder, before().folder) << "the working folder has changed";
  EXPECT_EQ(after.signals, before().signals) << "signal handlers have changed";
  // Those that the launcher handed to the process may be closed.
  for (const std::string& descriptor : after.descriptors)
    EXPECT_TRUE(before().descriptors.contains(descriptor)) << "left open: descriptor " << descriptor;
}

TEST_P(Job, AbortEndsTheJobWithItsWords) {
  constexpr char kWords[] = "the check of a launch component ends this job";
  ASSERT_TRUE(right(ops().initialized(launch())));
  ASSERT_TRUE(fence());
  leave_verdict(Verdict::Kind::kEnds, can(ASHLAR_LAUNCH_SHOWS_ABORT) ? kWords : "");
  mark("ready", job().rank);
  for (std::uint32_t rank = 0; rank < job().ranks; ++rank) wait_for_mark("ready", rank);
  if (job().rank + 1 == job().ranks) {
    ops().abort(launch(), 3, kWords);
    _exit(3);  // as a rank does when abort() returns
  }
  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

std::vector<std::string> launches() {
  return subject().framework == "launch" ? std::vector<std::string>{subject().name} : std::vector<std::string>{};
}
INSTANTIATE_TEST_SUITE_P(Installed, Job, testing::ValuesIn(launches()), [](const auto& test) { return test.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Job);

}  // namespace
}  // namespace ashlar::test
