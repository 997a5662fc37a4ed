#include "framework/progress/waiting.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "framework/base/clock.h"
#include "framework/progress/peer.h"
#include "tests/unit/progress/arrivals.h"
#include "tests/unit/progress/fake_iface.h"

namespace ashlar {
namespace {

using test::Arrivals;
using test::FakeIface;

std::uint64_t cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

class Waits : public testing::TestWithParam<bool> {
 protected:
  void wait_for(FakeIface& iface, unsigned count) ASHLAR_NO_THREAD_SAFETY {
    const LaneGuard guard(lane.lock);
    progress::wait(lane, [&] { return iface.seen >= count; });
  }
  PeerTable peers{{}, 1, 1};
  Lane lane{0, peers, progress::Config{}};
};

TEST_P(Waits, SleepsWithoutUsingTheCoreAndIsWoken) ASHLAR_NO_THREAD_SAFETY {
  FakeIface iface(GetParam());
  lane.add_iface(&iface, false);
  const std::uint64_t cpu = cpu_ns(), begin = now_ns();
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    iface.arrive();
  });
  wait_for(iface, 1);
  const std::uint64_t used = cpu_ns() - cpu, passed = now_ns() - begin;
  sender.join();
  EXPECT_GE(passed, 240'000'000u);
  EXPECT_LT(used, 60'000'000u);
  EXPECT_GE(lane.counters.sleeps, 1u);
  EXPECT_FALSE(iface.armed);
  EXPECT_TRUE(lane.waits.empty());
}

// Arrivals at every possible moment around arm and sleep: none may be slept through.
TEST_P(Waits, NoWakeUpIsMissed) ASHLAR_NO_THREAD_SAFETY {
  FakeIface iface(GetParam());
  lane.add_iface(&iface, false);
  lane.config.spin = 0;
  lane.config.sleep_after = 0;
  Arrivals arrivals(3000, [&](unsigned) { iface.arrive(); });
  arrivals.await_each([&](unsigned i) { wait_for(iface, i); });
  EXPECT_TRUE(arrivals.in_time());
}

INSTANTIATE_TEST_SUITE_P(Wakeups, Waits, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Descriptor" : "Word"; });

TEST(WaitsForSeveral, AWordAndADescriptorOrTwoWords) ASHLAR_NO_THREAD_SAFETY {
  for (const bool second_by_descriptor : {false, true}) {
    PeerTable peers({}, 1, 1);
    Lane lane(0, peers, progress::Config{});
    FakeIface first(false), second(second_by_descriptor);
    lane.add_iface(&first, false);
    lane.add_iface(&second, false);
    std::thread sender([&] {
      for (FakeIface* iface : {&first, &second, &first}) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        iface->arrive();
      }
    });
    const LaneGuard guard(lane.lock);
    progress::wait(lane, [&] { return first.seen == 2 && second.seen == 1; });
    sender.join();
  }
}

TEST(WaitsForSeveral, WhatCannotEndASleepIsLateByAPartOfTheWait) ASHLAR_NO_THREAD_SAFETY {
  EXPECT_EQ(progress::unheard_after(0), 50'000u);
  EXPECT_EQ(progress::unheard_after(1'000'000), 250'000u);
  EXPECT_EQ(progress::unheard_after(60'000'000'000), 1'000'000u);
  PeerTable peers({}, 1, 1);
  Lane lane(0, peers, progress::Config{});
  FakeIface word(false), descriptor(true);
  lane.add_iface(&word, false);
  lane.add_iface(&descriptor, false);
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    word.arrive();
  });
  const LaneGuard guard(lane.lock);
  const std::uint64_t begin = now_ns();
  progress::wait(lane, [&] { return word.seen == 1; });
  // Growing sleeps reach a millisecond within some twenty; short ones for good would be thousands.
  EXPECT_LE(lane.counters.sleeps, (now_ns() - begin) / 1'000'000 + 30);
  EXPECT_GE(lane.counters.sleeps, 1u);
  sender.join();
}

TEST(WaitsForSeveral, OneThatOffersBothIsWaitedForByItsDescriptorBesideAnother) ASHLAR_NO_THREAD_SAFETY {
  PeerTable peers({}, 1, 1);
  Lane lane(0, peers, progress::Config{});
  FakeIface both(true, true), descriptor(true);
  lane.add_iface(&both, false);
  lane.add_iface(&descriptor, false);
  std::thread sender([&] {
    for (FakeIface* iface : {&both, &descriptor}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      iface->arrive();
    }
  });
  const LaneGuard guard(lane.lock);
  const std::uint64_t begin = now_ns();
  progress::wait(lane, [&] { return both.seen == 1; });
  // The longest sleep takes 50 ms; one that the arrival cannot end takes a millisecond at most.
  EXPECT_LE(lane.counters.timeouts, (now_ns() - begin) / 50'000'000)
      << "the arrival ends the sleep, and no limit of it";
  progress::wait(lane, [&] { return descriptor.seen == 1; });
  sender.join();
}

TEST(WaitingThreads, TheOneThatProgressesWakesTheOthers) ASHLAR_NO_THREAD_SAFETY {
  LaneLock::enable_threads();
  PeerTable peers({}, 1, 1);
  Lane lane(0, peers, progress::Config{});
  FakeIface iface(false);
  lane.add_iface(&iface, false);
  unsigned taken = 0;  // guarded by the lane's lock
  std::vector<std::thread> threads;
  for (unsigned i = 1; i <= 3; ++i) {
    threads.emplace_back([&, i]() ASHLAR_NO_THREAD_SAFETY {
      const LaneGuard guard(lane.lock);
      progress::wait(lane, [&] {
        taken = iface.seen;
        return taken >= i;
      });
    });
  }
  const std::uint64_t begin = now_ns();
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    iface.arrive();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(now_ns() - begin, 5'000'000'000u);
}

/// Two lanes of one process, each with an interface.
struct TwoLanes {
  TwoLanes() ASHLAR_NO_THREAD_SAFETY {
    LaneLock::enable_threads();
    first.next_lane = &second;
    second.next_lane = &first;
    first.add_iface(&of_first, false);
    second.add_iface(&of_second, false);
  }
  PeerTable peers{{}, 1, 2};
  Lane first{0, peers, progress::Config{}}, second{1, peers, progress::Config{}};
  FakeIface of_first{false}, of_second{false};
};

// A thread that sleeps on one lane is woken for the other by an arrival there, and not by the clock.
TEST(SeveralLanes, AreSleptOnAtOnce) ASHLAR_NO_THREAD_SAFETY {
  TwoLanes lanes;
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    lanes.of_second.arrive();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    lanes.of_first.arrive();
  });
  {
    const LaneGuard guard(lanes.first.lock);
    progress::wait(lanes.first, [&] { return lanes.of_second.seen == 1; });
    progress::wait(lanes.first, [&] { return lanes.of_first.seen == 1; });
    EXPECT_LT(lanes.first.counters.sleeps, 60u) << "600 ms in pieces of 50 ms, and what a busy machine adds";
  }
  sender.join();
  EXPECT_EQ(lanes.first.armed + lanes.second.armed, 0u);
  EXPECT_EQ(lanes.first.sleepers + lanes.second.sleepers, 0u);
  EXPECT_FALSE(lanes.of_first.armed || lanes.of_second.armed);
}

TEST(SeveralLanes, NoWakeUpIsMissed) ASHLAR_NO_THREAD_SAFETY {
  TwoLanes lanes;
  for (Lane* lane : {&lanes.first, &lanes.second}) {
    lane->config.spin = 0;
    lane->config.sleep_after = 0;
  }
  Arrivals arrivals(2000, [&](unsigned i) { (i % 2 ? lanes.of_second : lanes.of_first).arrive(); });
  arrivals.await_each([&](unsigned i) {
    const LaneGuard guard(lanes.first.lock);
    progress::wait(lanes.first, [&] { return lanes.of_first.seen + lanes.of_second.seen >= i; });
  });
  EXPECT_TRUE(arrivals.in_time());
}

// A lane that other threads use is left to them: their messages do not wake this one.
TEST(SeveralLanes, LeaveThoseInUseAlone) ASHLAR_NO_THREAD_SAFETY {
  TwoLanes lanes;
  std::atomic<bool> over{false};
  std::thread other([&]() ASHLAR_NO_THREAD_SAFETY {
    while (!over.load()) {
      lanes.of_second.arrive();
      const LaneGuard guard(lanes.second.lock);
      progress::poll(lanes.second);
    }
  });
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    lanes.of_first.arrive();
  });
  {
    const LaneGuard guard(lanes.first.lock);
    progress::wait(lanes.first, [&] { return lanes.of_first.seen == 1; });
    EXPECT_LT(lanes.first.counters.sleeps, 400u) << "naps of 1 to 4 ms";
  }
  over = true;
  sender.join();
  other.join();
}

}  // namespace
}  // namespace ashlar
