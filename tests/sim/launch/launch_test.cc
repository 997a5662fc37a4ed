// mpiexec's side of a job on thousands of hosts, in its own code, before virtual daemons (virtual_daemons.cc): how many
// messages each way of the tree carries, and what is lost with a daemon.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "framework/base/clock.h"
#include "mpiexec/remote_nodes.h"
#include "mpiexec/text.h"
#include "tests/sim/extent.h"
#include "tests/sim/launch/daemons.h"

namespace ashlar::sim {
namespace {

using namespace ashlar::mpiexec;

/// A job with one rank on each host and none beside mpiexec.
class TreeOfDaemons : public ::testing::Test, private NodeEvents {
 protected:
  ~TreeOfDaemons() override { unsetenv(kNoWayVariable); }

  void start(unsigned hosts, unsigned width, std::uint64_t silence_ns = 0) {
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&inherited_.mask);
    getrlimit(RLIMIT_NOFILE, &inherited_.files);
    hosts_ = hosts;
    tree_ = {.from = 1, .width = width};
    setenv(kHostsVariable, std::to_string(hosts).c_str(), 1);
    NodeMap map;
    map.node = launch::kNoNode;
    for (unsigned host = 0; host < hosts; ++host) {
      map.hosts.push_back("h" + std::to_string(host));
      map.node_of_rank.push_back(host);
    }
    BoardFacts facts;
    facts.job_id = "1";
    facts.host = facts.launcher = "here";
    facts.nodes = map;
    facts.cookie = 1;
    facts.ranks = facts.universe = hosts;
    facts.heap_per_rank = 4096;
    ASSERT_TRUE(board_.make(facts).ok());
    const AgentFacts agent = {.command = "", .daemon = VIRTUAL_DAEMONS, .patience_ns = 300'000'000'000};
    ASSERT_TRUE(nodes_.launch(map, agent, inherited_, tree_, silence_ns).ok());
    nodes_.set_board(&board_);
    until([this] { return nodes_.all(RemoteNode::Phase::kThere); });
    JobOrder order;
    order.nodes = map;
    order.options.segments.resize(1);
    order.options.segments[0].ranks = hosts;
    nodes_.order(order);
    until([this] { return nodes_.all(RemoteNode::Phase::kReady); });
    nodes_.start();
    until([this] { return started_ == hosts_; });
  }

  void turn() { turn(now_ns()); }
  void turn(std::uint64_t now) {
    std::vector<pollfd> fds;
    nodes_.flush();
    nodes_.add(&fds);
    (void)poll(fds.data(), fds.size(), 10);
    nodes_.handle(fds, now);
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) (void)nodes_.take_end(pid, status, now);
  }
  template <class Condition>
  void until(const Condition& condition) {
    while (!HasFatalFailure() && !condition()) {
      turn();
      nodes_.check(now_ns());
      if (!lost_.empty()) continue;
      const Status failed = nodes_.failure(now_ns());
      ASSERT_TRUE(failed.ok()) << in_words(failed);
    }
  }
  /// Without signs of life, which would count.
  template <class Condition>
  void quietly_until(const Condition& condition) {
    while (!HasFatalFailure() && !condition()) turn();
  }

  /// What has passed on each way since this was asked last.
  const std::vector<Passed>& passed() {
    passed_.assign(hosts_, {});
    answers_ = 0;
    nodes_.refresh();
    quietly_until([this] { return answers_ + lost_.size() == hosts_; });
    return passed_;
  }
  void forget_passed() { (void)passed(); }

  unsigned above(unsigned host) const { return tree_.above(host, hosts_); }
  /// Ways between mpiexec and the host.
  unsigned ways_to(unsigned host) const { return above(host) == Tree::kNone ? 1 : ways_to(above(host)) + 1; }
  bool is_behind(unsigned host, unsigned other) const {
    return host == other || (above(host) != Tree::kNone && is_behind(above(host), other));
  }
  std::uint64_t behind(unsigned host) const {
    std::uint64_t sum = 0;
    for (unsigned other = host; other < hosts_; ++other) sum += is_behind(other, host) ? 1 : 0;
    return sum;
  }

  unsigned hosts_ = 0, started_ = 0, fences_ = 0, answers_ = 0;
  Tree tree_;
  std::vector<unsigned> lost_;
  std::vector<std::string> why_;
  Inherited inherited_;
  Board board_;
  RemoteNodes nodes_{*this};

 private:
  void rank_started(unsigned, pid_t) override { ++started_; }
  void rank_wrote(unsigned rank, bool, std::string_view bytes) override {
    ASSERT_TRUE(Unpacker(bytes)(passed_[rank]).done());
    ++answers_;
  }
  void stream_ended(unsigned, bool) override {}
  void rank_aborted(unsigned, int, const std::string&) override {}
  void rank_ended(unsigned, const RankEnding&) override {}
  void fence_entered(unsigned, std::uint32_t) override { ++fences_; }
  void record_wanted(const RecordWanted&) override {}
  void server_called(Descriptor) override {}
  void states_changed() override {}
  void rank_called(unsigned, std::uint32_t) override {}
  void rank_asks(unsigned, std::uint32_t, std::string_view) override {}
  void host_tried_again(const Status&) override {}
  void node_lost(unsigned node, const std::string& how) override {
    lost_.push_back(node);
    why_.push_back(how);
  }

  std::vector<Passed> passed_;
};

constexpr unsigned kHosts = at_scale(4096);
constexpr unsigned kWidth = 16;

TEST_F(TreeOfDaemons, TheStartIsAsDeepAsTheTree) {
  start(kHosts, kWidth);
  unsigned deepest = 0, full = kWidth;
  for (unsigned level = kWidth; full < kHosts; full += level *= kWidth) ++deepest;
  EXPECT_EQ(ways_to(kHosts - 1), deepest + 1);
  const std::vector<Passed>& ways = passed();
  for (unsigned host = 0; host < kHosts; ++host) {
    const std::uint64_t all = behind(host);
    // Down: the number of each host, the way to each but this one, the order and the start for all at once. Up: that
    // each is ready, and that its rank has started.
    ASSERT_EQ(ways[host].down, all + (all - 1) + 2) << host;
    ASSERT_EQ(ways[host].up, 2 * all) << host;
  }
}

TEST_F(TreeOfDaemons, AFence) {
  start(kHosts, kWidth);
  nodes_.signal_all(kEnterFence);
  quietly_until([this] { return fences_ == hosts_; });
  forget_passed();
  fences_ = 0;
  nodes_.signal_all(kEnterFence);
  quietly_until([this] { return fences_ == hosts_; });
  nodes_.fence_done(1);
  const std::vector<Passed>& ways = passed();
  for (unsigned host = 0; host < kHosts; ++host) {
    ASSERT_EQ(ways[host].down, 2u) << host << ": the signal, and that all have entered";
    ASSERT_EQ(ways[host].up, behind(host)) << host;
  }
}

TEST_F(TreeOfDaemons, ARecordOfAnotherHost) {
  start(kHosts, kWidth);
  const unsigned by = 1, of = kHosts - 2;
  forget_passed();
  nodes_.signal(by, kAskForRecord);
  std::vector<Passed> ways(kHosts);
  while (ways[by].down < 2) {
    const std::vector<Passed>& more = passed();
    for (unsigned host = 0; host < kHosts; ++host) {
      ways[host].down += more[host].down;
      ways[host].up += more[host].up;
    }
  }
  for (unsigned host = 0; host < kHosts; ++host) {
    const std::uint64_t asks = is_behind(by, host) ? 1 : 0, has = is_behind(of, host) ? 1 : 0;
    ASSERT_EQ(ways[host].down, 2 * asks + has) << host << ": the signal and the answer, and the question";
    ASSERT_EQ(ways[host].up, asks + has) << host << ": the question, and the answer";
  }
}

TEST_F(TreeOfDaemons, TheEndOfARank) {
  start(kHosts, kWidth);
  forget_passed();
  nodes_.publish_end(7, 0, false, 0);
  for (const Passed& way : passed()) {
    ASSERT_EQ(way.down, 1u);
    ASSERT_EQ(way.up, 0u);
  }
}

TEST_F(TreeOfDaemons, AtTheEndAllProcessesEndByThemselves) {
  start(kHosts, kWidth);
  nodes_.leave();
  nodes_.flush();
  int status = 0;
  for (unsigned i = 0; i < kWidth; ++i) {
    ASSERT_GT(waitpid(-1, &status, 0), 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(lost_.empty());
}

/// With a daemon those behind it are lost, and no other one; the first to be named is it.
class AnyDaemon : public TreeOfDaemons, public ::testing::WithParamInterface<unsigned> {
 protected:
  void lose(unsigned host) {
    nodes_.signal(host, kDie);
    until([&] { return lost_.size() >= behind(host); });
    forget_passed();  // all others answer
    EXPECT_EQ(lost_.front(), host);
    EXPECT_EQ(lost_.size(), behind(host));
    for (const unsigned gone : lost_) EXPECT_TRUE(is_behind(gone, host)) << gone;
    EXPECT_NE(why_.front().find("its agent, "), std::string::npos) << why_.front();
    for (std::size_t i = 1; i < lost_.size(); ++i)
      EXPECT_EQ(why_[i], "the way to it leads through host h" + std::to_string(above(lost_[i])) + ", which is lost");
  }
};
TEST_P(AnyDaemon, OfSixty) {
  start(60, 3);
  lose(GetParam());
}
INSTANTIATE_TEST_SUITE_P(Each, AnyDaemon, ::testing::Range(0u, 60u));

class AnyLevel : public AnyDaemon {};
TEST_P(AnyLevel, OfThousands) {
  start(kHosts, kWidth);
  lose(GetParam());
}
INSTANTIATE_TEST_SUITE_P(Each, AnyLevel, ::testing::Values(0u, 15u, 16u, 30u, 271u, kHosts - 1));

// From the last one on, so that each is lost alone.
TEST_F(TreeOfDaemons, OneDaemonAfterTheOther) {
  start(kHosts, kWidth);
  for (unsigned host = kHosts; host-- > 0;) {
    nodes_.signal(host, kDie);
    until([&] { return lost_.size() >= kHosts - host; });
    ASSERT_EQ(lost_.size(), kHosts - host);
    ASSERT_EQ(lost_.back(), host);
    ASSERT_EQ(why_.back().find("its agent, "), 0u) << why_.back();
  }
}

// A host that is silent keeps back the signs of life of those behind it, whose last ones are older than its own.
TEST_F(TreeOfDaemons, ASilentHostIsNamedBeforeThoseBehindIt) {
  constexpr std::uint64_t kSecond = 1'000'000'000, kSilence = 20 * kSecond;
  start(12, 3, kSilence);
  forget_passed();  // all hosts have just answered
  const std::uint64_t begin = now_ns();
  for (unsigned host = 0; host < 3; ++host) nodes_.signal(host, kEnterFence);
  while (fences_ < 3) turn(begin + 2 * kSecond);
  for (std::uint64_t now = begin + 2 * kSecond; lost_.empty(); now += kSecond / 4) {
    ASSERT_LT(now, begin + 2 * kSilence);
    nodes_.check(now);
  }
  EXPECT_EQ(lost_.front(), 0u);
  EXPECT_NE(why_.front().find("silent for 20 s"), std::string::npos) << why_.front();
}

TEST_F(TreeOfDaemons, HostsThatLetNobodyInFromEachOtherAreReachedFromHere) {
  setenv(kNoWayVariable, "1", 1);
  start(60, 3);
  EXPECT_EQ(nodes_.ways(), "60 of 60 hosts from here, 0 through others; ways from other hosts that failed: 57");
}

}  // namespace
}  // namespace ashlar::sim
