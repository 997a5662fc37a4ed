#include "framework/progress/contention.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "framework/base/clock.h"
#include "framework/plugin/records.h"
#include "framework/progress/peer.h"
#include "framework/progress/waiting.h"
#include "tests/unit/progress/arrivals.h"
#include "tests/unit/progress/fake_iface.h"

namespace ashlar {
namespace {

using progress::Config;
using progress::Contention;
using test::Arrivals;
using test::FakeIface;

constexpr std::uint64_t kMs = 1'000'000;

Config config_of(std::uint64_t retry, std::uint64_t most) {
  Config config;
  config.long_yield = 1 * kMs;
  config.long_yield_oversubscribed = 3 * kMs;
  config.yield_retry = config.yield_retry_oversubscribed = retry;
  config.yield_retry_most = most;
  return config;
}

/// A long yield at `now`: how long until the next try.
std::uint64_t pause_after(Contention& contention, std::uint64_t now, const Config& config) {
  EXPECT_TRUE(contention.yielded(now, now + 4 * kMs, config));
  std::uint64_t at = now + 4 * kMs;
  while (contention.found(at)) at += kMs;
  return at - (now + 4 * kMs);
}

TEST(Contention, IsFoundByALongYieldOnly) {
  Contention contention;
  Config config = config_of(8 * kMs, 8 * kMs);
  EXPECT_FALSE(contention.found(0));
  EXPECT_FALSE(contention.yielded(100 * kMs, 101 * kMs, config));
  EXPECT_FALSE(contention.found(101 * kMs));
  EXPECT_TRUE(contention.yielded(100 * kMs, 102 * kMs, config));
  EXPECT_TRUE(contention.found(102 * kMs));
}

// Where ranks take turns on a core, a yield lasts as long as they compute.
TEST(Contention, OtherRanksOnTheCoreAreNotTakenForCompetitors) {
  Contention contention;
  Config config = config_of(8 * kMs, 8 * kMs);
  config.oversubscribed = true;
  EXPECT_FALSE(contention.yielded(100 * kMs, 102 * kMs, config));
  EXPECT_FALSE(contention.found(102 * kMs));
  EXPECT_TRUE(contention.yielded(100 * kMs, 104 * kMs, config));
}

TEST(Contention, AllProcessesTryAgainAtTheSameTime) {
  Contention a, b;
  const Config config = config_of(8 * kMs, 8 * kMs);
  EXPECT_TRUE(a.yielded(161 * kMs, 163 * kMs, config));
  EXPECT_TRUE(b.yielded(164 * kMs, 167 * kMs, config));
  EXPECT_TRUE(a.found(168 * kMs - 1) && b.found(168 * kMs - 1));
  EXPECT_FALSE(a.found(168 * kMs) || b.found(168 * kMs));
}

TEST(Contention, TriesThatFailAreMadeLessOftenUpToALimit) {
  Contention contention;
  const Config config = config_of(4 * kMs, 16 * kMs);
  // Multiples of 64 ms and 60 ms on, so that a try comes a whole interval later.
  EXPECT_EQ(pause_after(contention, 60 * kMs, config), 4 * kMs);
  EXPECT_EQ(pause_after(contention, 124 * kMs, config), 8 * kMs);
  EXPECT_EQ(pause_after(contention, 188 * kMs, config), 16 * kMs);
  EXPECT_EQ(pause_after(contention, 252 * kMs, config), 16 * kMs);
}

// A core that goes to another rank of the job in between is no proof; several short yields are.
TEST(Contention, TheIntervalStartsAnewOnceYieldsAreShort) {
  Contention contention;
  const Config config = config_of(4 * kMs, 64 * kMs);
  EXPECT_EQ(pause_after(contention, 60 * kMs, config), 4 * kMs);
  EXPECT_FALSE(contention.yielded(80 * kMs, 80 * kMs, config));
  EXPECT_EQ(pause_after(contention, 124 * kMs, config), 8 * kMs);
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(contention.yielded(140 * kMs, 140 * kMs, config));
  EXPECT_EQ(pause_after(contention, 188 * kMs, config), 4 * kMs);
}

// Yields that return at short intervals cannot have been long; only one that may have been makes the next one timed.
TEST(Contention, YieldsAreTimedOnlyWhereOneMayHaveBeenLong) {
  Contention contention;
  const Config config = config_of(4 * kMs, 64 * kMs);
  std::uint64_t ticks = 1'000'000'000;
  contention.returned(ticks);
  EXPECT_TRUE(contention.watching()) << "nothing is known of the first one";
  EXPECT_FALSE(contention.yielded(kMs, kMs, config));
  EXPECT_FALSE(contention.watching());
  for (int i = 0; i < 3; ++i) contention.returned(ticks += 1000);
  EXPECT_FALSE(contention.watching());
  contention.returned(ticks += 1'000'000);
  EXPECT_TRUE(contention.watching());
  EXPECT_TRUE(contention.yielded(60 * kMs, 64 * kMs, config));
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(contention.watching()) << "until eight are short";
    EXPECT_FALSE(contention.yielded(100 * kMs, 100 * kMs, config));
  }
  EXPECT_FALSE(contention.watching());
}

TEST(Contention, IsNeverFoundWithoutARetryTime) {
  Contention contention;
  const Config config = config_of(0, 64 * kMs);
  EXPECT_TRUE(contention.yielded(60 * kMs, 70 * kMs, config));
  EXPECT_FALSE(contention.found(70 * kMs));
}

// A tool has set the retry time to 0 after yields had been long.
TEST(Contention, ARetryTimeOfZeroEndsTheIntervals) {
  Contention contention;
  EXPECT_EQ(pause_after(contention, 60 * kMs, config_of(4 * kMs, 64 * kMs)), 4 * kMs);
  EXPECT_TRUE(contention.yielded(124 * kMs, 128 * kMs, config_of(0, 64 * kMs)));
  EXPECT_FALSE(contention.found(128 * kMs));
}

/// A process that computes on the only core of this thread, for the time of the object.
class Competitor {
 public:
  Competitor() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    int core = 0;
    while (!CPU_ISSET(core, &before_)) ++core;
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    pid_ = fork();
    if (pid_ == 0) {
      for (volatile unsigned spins = 0;;) spins = spins + 1;
    }
  }
  ~Competitor() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_;
  pid_t pid_;
};

// sleep_after is out of reach, so a sleep can only come of the long yield.
TEST(WaitsBesideACompetitor, SleepAtOnceAndSayWhy) ASHLAR_NO_THREAD_SAFETY {
  PeerTable peers({}, 1, 1);
  Config config;
  config.spin = 0;
  config.sleep_after = 3'600'000 * kMs;
  Lane lane(0, peers, config);
  plugin::Records records;
  lane.records = &records;
  FakeIface iface(false);
  lane.add_iface(&iface, false);
  const Competitor competitor;
  std::thread sender([&] {
    for (int i = 0; i < 10; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      iface.arrive();
    }
  });
  {
    const LaneGuard guard(lane.lock);
    progress::wait(lane, [&] { return iface.seen == 10; });
  }
  sender.join();
  EXPECT_GE(lane.counters.long_yields, 1u);
  EXPECT_GE(lane.counters.sleeps, 1u);
  const auto decisions = records.of("launch");
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].setting, "progress.long_yield");
}

// Every yield counts as a long one, so waits change between trying and sleeping all the time.
TEST(WaitsBesideACompetitor, NoWakeUpIsMissed) ASHLAR_NO_THREAD_SAFETY {
  PeerTable peers({}, 1, 1);
  Config config;
  config.spin = 0;
  config.long_yield = 0;
  config.yield_retry = config.yield_retry_most = 50'000;
  Lane lane(0, peers, config);
  FakeIface iface(false);
  lane.add_iface(&iface, false);
  {
    Arrivals arrivals(3000, [&](unsigned) { iface.arrive(); });
    arrivals.await_each([&](unsigned i) {
      const LaneGuard guard(lane.lock);
      progress::wait(lane, [&] { return iface.seen >= i; });
    });
    EXPECT_TRUE(arrivals.in_time());
  }
  EXPECT_GE(lane.counters.long_yields, 1u);
}

}  // namespace
}  // namespace ashlar
