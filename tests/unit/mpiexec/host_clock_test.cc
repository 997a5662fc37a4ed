#include "mpiexec/host_clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ashlar::mpiexec {
namespace {

constexpr double kMillisecond = 1e6, kSecond = 1e9;

/// A host whose clock is ahead, and goes faster. Frames to it and back take a random time each, 50 us at the least.
struct Host {
  double ahead, rate;
  std::mt19937_64 random{7};

  std::uint64_t clock(double own) const { return static_cast<std::uint64_t>(own * rate + ahead); }
  double way() { return 50'000 + 1e6 * std::exponential_distribution<>(3)(random); }
  void meet(HostClock* with, double at) {
    with->meet();
    for (int i = 0; i < 16; ++i) {
      const double there = at + way(), back = there + way();
      with->add(static_cast<std::uint64_t>(at), {.ticks = clock(there) * 3, .ns = clock(there)},
                static_cast<std::uint64_t>(back));
      at = back;
    }
  }
  /// How wrong a time of the host becomes.
  double error(const ashlar_tool_host_clock& facts, double own) const {
    const double there = own * rate + ahead;
    const double made = static_cast<double>(facts.here_ns) + (there - static_cast<double>(facts.there_ns)) * facts.rate;
    return std::abs(made - own);
  }
};

TEST(HostClock, OneThatNeverMetIsTheOwnOne) { EXPECT_EQ(HostClock().facts().rate, 0); }

TEST(HostClock, WhatItSaysOfItsErrorHolds) {
  for (const double ahead : {0.0, 1e15, 40 * kSecond}) {
    Host host{.ahead = ahead, .rate = 1};
    HostClock clock;
    host.meet(&clock, 100 * kSecond);
    const ashlar_tool_host_clock facts = clock.facts();
    EXPECT_EQ(facts.rate, 1);
    EXPECT_LE(host.error(facts, 100 * kSecond), static_cast<double>(facts.error_ns) + 1);
    EXPECT_LT(facts.error_ns, 1'000'000u);  // the shortest exchange, not any
    EXPECT_GE(facts.error_ns, 50'000u);
    EXPECT_EQ(facts.counter.ticks, facts.counter.ns * 3);
  }
}

TEST(HostClock, TwoMeetingsTellHowFastItGoes) {
  for (const double drift : {-80e-6, 35e-6}) {
    Host host{.ahead = 5e14, .rate = 1 + drift};
    HostClock clock;
    host.meet(&clock, 10 * kSecond);
    host.meet(&clock, 3610 * kSecond);
    const ashlar_tool_host_clock facts = clock.facts();
    EXPECT_NEAR(facts.rate, 1 / (1 + drift), 1e-6);
    for (const double own : {10.0, 1000.0, 3610.0})
      EXPECT_LE(host.error(facts, own * kSecond), static_cast<double>(facts.error_ns) + 1) << own << " s, " << drift;
    EXPECT_LT(facts.error_ns, 1'000'000u);
  }
}

TEST(HostClock, MeetingsThatAreCloseSayNothingOfTheRate) {
  Host host{.ahead = 5e14, .rate = 1};
  HostClock clock;
  host.meet(&clock, kSecond);
  host.meet(&clock, kSecond + 50 * kMillisecond);
  EXPECT_EQ(clock.facts().rate, 1);
  EXPECT_LE(host.error(clock.facts(), kSecond + 20 * kMillisecond), static_cast<double>(clock.facts().error_ns) + 1);
}

TEST(HostClock, OfManyMeetingsTheFirstAndTheNewestCount) {
  Host host{.ahead = 5e14, .rate = 1 + 50e-6};
  HostClock clock;
  for (int i = 1; i <= 100; ++i) host.meet(&clock, i * 10 * kSecond);
  EXPECT_NEAR(clock.facts().rate, 1 / (1 + 50e-6), 2e-6);
  EXPECT_LE(host.error(clock.facts(), 1000 * kSecond), static_cast<double>(clock.facts().error_ns) + 1);
}

// An answer cannot come before its question.
TEST(HostClock, AnExchangeThatRunsBackwardsIsNone) {
  HostClock clock;
  clock.meet();
  clock.add(200, {.ticks = 1, .ns = 1}, 100);
  EXPECT_EQ(clock.facts().rate, 0);
}

}  // namespace
}  // namespace ashlar::mpiexec
