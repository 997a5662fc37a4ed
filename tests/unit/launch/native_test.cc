// The board from both sides: mpiexec's Board makes it, processes forked from this test are the ranks.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "components/launch/native/client.h"
#include "framework/plugin/host.h"
#include "mpiexec/board.h"

namespace ashlar::launch {
namespace {

using testing::HasSubstr;

class BoardTest : public testing::Test {
 protected:
  void make(unsigned ranks, std::uint64_t heap_per_rank = 64 * 1024) {
    mpiexec::BoardFacts facts;
    facts.job_id = "test." + std::to_string(getpid());
    facts.host = "node1";
    facts.launcher = "the test";
    facts.params = "ashlar-params 1\n";
    facts.ranks = facts.universe = ranks;
    facts.heap_per_rank = heap_per_rank;
    const Status made = board_.make(facts);
    ASSERT_TRUE(made.ok()) << made.text();
    for (unsigned r = 0; r < ranks; ++r) board_.set_placement(r, r % 2, false, "core " + std::to_string(r));
  }
  Trace trace(unsigned rank) {
    Trace t;
    EXPECT_TRUE(parse_trace(board_.variable(rank).c_str(), &t));
    // A client closes what it inherits, and in this process the board still needs its own.
    for (int* fd : {&t.board_fd, &t.bell_fd, &t.shared_fd}) *fd = dup(*fd);
    return t;
  }
  // The reason of the failure `result`, as the kernel shows it.
  static std::string reason_of(ashlar_result result) {
    return plugin::own_words(plugin::from(result, "launch/native"));
  }
  // Runs `body` as rank `rank` in a process of its own; it returns the exit code.
  pid_t rank(unsigned rank, const std::function<int(Client&)>& body) {
    const pid_t pid = fork();
    if (pid == 0) {
      Client client(*host_.table());
      if (const ashlar_result attached = client.attach(trace(rank)); attached != ASHLAR_OK) {
        const std::string reason = reason_of(attached);
        _exit(reason.starts_with("the board of mpiexec cannot be used: rank 0 of job test.") ? kNotAttached : 101);
      }
      const int code = body(client);
      if (code != 0) std::fprintf(stderr, "rank %u: %d\n", rank, code);
      _exit(code);
    }
    return pid;
  }
  static int wait_for(pid_t pid) {
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  static constexpr int kNotAttached = 100;
  mpiexec::Board board_;
  plugin::Host host_;
};

TEST_F(BoardTest, RanksSeeTheirJobAndEachOthersValues) {
  constexpr unsigned kRanks = 7;
  make(kRanks);
  std::vector<pid_t> pids;
  for (unsigned r = 0; r < kRanks; ++r)
    pids.push_back(rank(r, [&](Client& c) {
      const ashlar_job& job = c.job();
      if (job.rank != r || job.ranks != kRanks || job.appnum != r % 2) return 1;
      if (std::string(job.params, job.params_bytes) != "ashlar-params 1\n") return 2;
      if (std::string(job.placement) != "core " + std::to_string(r)) return 3;
      const std::string mine = "value of " + std::to_string(r);
      if (c.put("key", mine.data(), mine.size()) || c.put("other", "", 0) || c.fence(20000)) return 4;
      for (unsigned i = 0; i < kRanks; ++i) {
        const void* blob;
        std::size_t bytes;
        if (c.view(i, "key", &blob, &bytes)) return 5;
        if (std::string(static_cast<const char*>(blob), bytes) != "value of " + std::to_string(i)) return 6;
        if (c.view(i, "other", &blob, &bytes) || bytes != 0) return 7;
        if (c.view(i, "none", &blob, &bytes) != ASHLAR_LAUNCH_NOT_FOUND) return 8;
      }
      for (int i = 0; i < 1000; ++i)
        if (c.fence(20000)) return 9;
      return c.finalize() == ASHLAR_OK ? 0 : 10;
    }));
  for (pid_t pid : pids) EXPECT_EQ(wait_for(pid), 0);
  for (unsigned r = 0; r < kRanks; ++r) EXPECT_EQ(board_.state(r), RankState::kFinalized);
}

TEST_F(BoardTest, ARankCannotBeTakenTwice) {
  make(1);
  Client first(*host_.table());
  ASSERT_EQ(first.attach(trace(0)), ASHLAR_OK);
  EXPECT_EQ(wait_for(rank(0, [](Client&) { return 0; })), kNotAttached);
}

TEST_F(BoardTest, ProgramsOfOneRankFollowEachOther) {
  make(1);
  for (int program = 0; program < 3; ++program)
    EXPECT_EQ(wait_for(rank(0,
                            [](Client& c) {
                              const void* blob;
                              std::size_t bytes;
                              // What the program before left is not ours.
                              if (c.view(0, "k", &blob, &bytes) != ASHLAR_LAUNCH_NOT_FOUND) return 1;
                              if (c.put("k", "v", 1) || c.fence(1000) || c.view(0, "k", &blob, &bytes)) return 2;
                              return static_cast<int>(c.finalize());
                            })),
              0);
}

TEST_F(BoardTest, NothingFollowsAProgramThatDidNotFinalize) {
  make(1);
  EXPECT_EQ(wait_for(rank(0, [](Client& c) { return static_cast<int>(c.initialized()); })), 0);
  EXPECT_EQ(wait_for(rank(0, [](Client&) { return 0; })), kNotAttached);
}

TEST_F(BoardTest, AFenceNamesWhomItWaitsFor) {
  make(3);
  Client c(*host_.table());
  ASSERT_EQ(c.attach(trace(0)), ASHLAR_OK);
  EXPECT_EQ(c.fence(50), ASHLAR_LAUNCH_TIMED_OUT);
  EXPECT_THAT(reason_of(c.report_timeout()),
              HasSubstr("still missing: rank 1 (never joined, runs), rank 2 (never joined, runs)"));
  // It goes on where it stopped, once the others come.
  const pid_t one = rank(1, [](Client& other) { return static_cast<int>(other.fence(20000)); });
  const pid_t two = rank(2, [](Client& other) { return static_cast<int>(other.fence(20000)); });
  EXPECT_EQ(c.fence(20000), ASHLAR_OK);
  EXPECT_EQ(wait_for(one), 0);
  EXPECT_EQ(wait_for(two), 0);
}

TEST_F(BoardTest, AFenceFailsWhenARankIsGone) {
  make(2);
  Client c(*host_.table());
  ASSERT_EQ(c.attach(trace(0)), ASHLAR_OK);
  std::thread launcher([this] {
    usleep(50000);
    board_.ended(1, 3 << 8, false);
  });
  const ashlar_result fence = c.fence(20000);
  EXPECT_EQ(fence, -ASHLAR_ERR_PROC_ABORTED);
  EXPECT_THAT(reason_of(fence), HasSubstr("rank 1 (never joined, ended with exit code 3)"));
  launcher.join();
}

TEST_F(BoardTest, FailedPeersAreToldOnce) {
  make(3);
  Client c(*host_.table());
  ASSERT_EQ(c.attach(trace(0)), ASHLAR_OK);
  std::vector<std::string> heard;
  c.on_peer_failure(
      [](void* context, std::uint32_t rank, const char* how) {
        static_cast<std::vector<std::string>*>(context)->push_back(std::to_string(rank) + " " + how);
      },
      &heard);
  c.poll();
  board_.ended(1, 0, false);
  c.poll();
  EXPECT_TRUE(heard.empty());
  board_.ended(2, 9, true);
  c.poll();
  c.poll();
  EXPECT_THAT(heard, testing::ElementsAre("2 killed by signal 9"));
}

TEST_F(BoardTest, AFullBoardSaysSo) {
  make(1, 4096);
  Client c(*host_.table());
  ASSERT_EQ(c.attach(trace(0)), ASHLAR_OK);
  const std::string big(100000, 'x');
  ashlar_result result = ASHLAR_OK;
  int stored = 0;
  while ((result = c.put(("k" + std::to_string(stored)).c_str(), big.data(), big.size())) == ASHLAR_OK) ++stored;
  EXPECT_EQ(result, -ASHLAR_ERR_NO_MEM);
  EXPECT_GE(stored, 9);
  EXPECT_THAT(reason_of(result), HasSubstr("100000 bytes under key"));
  EXPECT_EQ(c.put("huge", big.data(), ~std::size_t{0}), -ASHLAR_ERR_NO_MEM);
  const void* blob;
  std::size_t bytes;
  EXPECT_EQ(c.view(0, "k0", &blob, &bytes), ASHLAR_OK);
  EXPECT_EQ(bytes, big.size());
}

TEST_F(BoardTest, AnAbortReachesTheLauncher) {
  make(1);
  const pid_t pid = rank(0, [](Client& c) {
    c.abort(42, "no more");
    return 0;
  });
  char ring = 0;
  while (read(board_.bell_read_fd(), &ring, 1) != 1) usleep(1000);
  EXPECT_EQ(board_.slot(0).abort_code, 42);
  EXPECT_EQ(board_.abort_text(0), "no more");
  kill(pid, SIGKILL);
  wait_for(pid);
}

TEST_F(BoardTest, TheSizeIsSealed) {
  make(1);
  EXPECT_NE(ftruncate(board_.board_fd(), 4096), 0);
  EXPECT_EQ(errno, EPERM);
}

TEST(Trace, OnlyOurOwnTextIsTaken) {
  Trace t;
  EXPECT_FALSE(parse_trace(nullptr, &t));
  for (const char* bad : {"", "1:2:3", "2:1:2:3:0:5:6:job", "1:1:2:3:0:5:6:", "1:a:2:3:0:5:6:job", "garbage"})
    EXPECT_FALSE(parse_trace(bad, &t)) << bad;
  const std::string too_long = "1:1:2:3:0:5:6:" + std::string(64, 'x');
  EXPECT_FALSE(parse_trace(too_long.c_str(), &t));
  ASSERT_TRUE(parse_trace("1:100:101:102:3:4711:88:4711.58", &t));
  EXPECT_EQ(t.board_fd, 100);
  EXPECT_EQ(t.rank, 3u);
  EXPECT_EQ(t.launcher_start, 88u);
  EXPECT_STREQ(t.job_id, "4711.58");
}

TEST(Trace, ALeftoverVariableIsExplained) {
  Trace t;
  ASSERT_TRUE(parse_trace("1:0:1:2:0:1:88:4711.58", &t));
  char why[200] = {};
  bool inherited = true;
  EXPECT_EQ(open_board(t, &inherited, why, sizeof why), -1);
  EXPECT_FALSE(inherited);
  EXPECT_THAT(why, HasSubstr("left over from job 4711.58"));
}

}  // namespace
}  // namespace ashlar::launch
