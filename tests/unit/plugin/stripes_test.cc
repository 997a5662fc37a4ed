#include "framework/plugin/stripes.h"

#include <gtest/gtest.h>

#include <vector>

namespace ashlar::plugin {
namespace {

constexpr std::uint64_t kStripe = 1000, kWindow = 4 * kStripe;

/// Gives `total` bytes away until nothing more is taken, or all are given.
std::uint64_t give(std::vector<RailLoad>& rails, std::uint64_t total, std::uint64_t window) {
  std::uint64_t left = total;
  while (left != 0) {
    const std::uint64_t stripe = left < kStripe ? left : kStripe;
    const int rail = choose_rail(rails, stripe, left, window);
    if (rail == kNoRail) break;
    rails[static_cast<std::size_t>(rail)].due += stripe;
    left -= stripe;
  }
  return total - left;
}

/// Bytes that each rail has brought when all are there, as the rails really are; what is measured is in `rails`.
std::vector<std::uint64_t> bring(std::vector<RailLoad> rails, const std::vector<double>& speeds, std::uint64_t total) {
  std::vector<std::uint64_t> brought(rails.size());
  std::vector<double> ahead(rails.size());  // bytes that the rail has carried of the stripe in front
  std::uint64_t left = total, there = 0;
  for (int step = 0; there < total && step < 10'000'000; ++step) {
    for (;;) {
      const std::uint64_t stripe = left < kStripe ? left : kStripe;
      const int rail = left != 0 ? choose_rail(rails, stripe, left, kWindow) : kNoRail;
      if (rail == kNoRail) break;
      rails[static_cast<std::size_t>(rail)].due += stripe;
      left -= stripe;
    }
    for (std::size_t i = 0; i < rails.size(); ++i) {
      if (rails[i].due == 0) continue;
      ahead[i] += speeds[i];
      const std::uint64_t stripe = rails[i].due < kStripe ? rails[i].due : kStripe;
      if (ahead[i] < static_cast<double>(stripe)) continue;
      ahead[i] = 0;
      rails[i].due -= stripe;
      rails[i].speed = speeds[i];
      brought[i] += stripe;
      there += stripe;
    }
  }
  EXPECT_EQ(there, total);
  return brought;
}

TEST(StripePlan, OneRailTakesWhatItsWindowHolds) {
  std::vector<RailLoad> rails = {{.open = true, .speed = 1, .due = 0}};
  EXPECT_EQ(give(rails, 100 * kStripe, kWindow), kWindow);
  EXPECT_EQ(rails[0].due, kWindow);
}

TEST(StripePlan, EqualRailsShareEqually) {
  std::vector<RailLoad> rails = {{.open = true, .speed = 2, .due = 0}, {.open = true, .speed = 2, .due = 0}};
  EXPECT_EQ(give(rails, 8 * kStripe, kWindow), 8 * kStripe);
  EXPECT_EQ(rails[0].due, 4 * kStripe);
  EXPECT_EQ(rails[1].due, 4 * kStripe);
}

TEST(StripePlan, SharesAreAsTheSpeeds) {
  for (int first = 0; first < 2; ++first) {
    std::vector<RailLoad> rails(2);
    std::vector<double> speeds(2);
    for (int i = 0; i < 2; ++i) {
      const auto at = static_cast<std::size_t>(i);
      speeds[at] = i == first ? 3 : 1;
      rails[at] = {.open = true, .speed = speeds[at], .due = 0};
    }
    const auto brought = bring(rails, speeds, 100 * kStripe);
    EXPECT_NEAR(static_cast<double>(brought[static_cast<std::size_t>(first)]), 75.0 * kStripe, 2.0 * kStripe);
  }
}

TEST(StripePlan, WhatIsNotMeasuredGetsOneStripe) {
  std::vector<RailLoad> rails = {{.open = true, .speed = 1, .due = 0}, {.open = true, .speed = 0, .due = 0}};
  EXPECT_EQ(give(rails, 100 * kStripe, kWindow), kWindow + kStripe);
  EXPECT_EQ(rails[1].due, kStripe);
}

TEST(StripePlan, SpeedsThatAreNotKnownAreFound) {
  std::vector<RailLoad> rails(3, {.open = true, .speed = 0, .due = 0});
  const auto brought = bring(rails, {1, 2, 5}, 800 * kStripe);
  EXPECT_NEAR(static_cast<double>(brought[2]), 500.0 * kStripe, 5.0 * kStripe);
  EXPECT_NEAR(static_cast<double>(brought[0]), 100.0 * kStripe, 5.0 * kStripe);
}

TEST(StripePlan, ASlowRailDoesNotHoldTheLastStripe) {
  // The fast one brings both that are left before the slow one has brought one.
  std::vector<RailLoad> rails = {{.open = true, .speed = 10, .due = 0}, {.open = true, .speed = 1, .due = 0}};
  EXPECT_EQ(give(rails, 2 * kStripe, kWindow), 2 * kStripe);
  EXPECT_EQ(rails[1].due, 0U);
}

TEST(StripePlan, AStripeWaitsForAFullRailThatIsSooner) {
  std::vector<RailLoad> rails = {{.open = true, .speed = 100, .due = kWindow}, {.open = true, .speed = 1, .due = 0}};
  EXPECT_EQ(choose_rail(rails, kStripe, kStripe, kWindow), kNoRail);
  EXPECT_EQ(choose_rail(rails, kStripe, 1000 * kStripe, kWindow), 1);  // of so much, it brings a part
}

TEST(StripePlan, ClosedRailsTakeNothing) {
  std::vector<RailLoad> rails = {{.open = false, .speed = 9, .due = 0}, {.open = true, .speed = 1, .due = 0}};
  EXPECT_EQ(choose_rail(rails, kStripe, kStripe, kWindow), 1);
  rails[1].open = false;
  EXPECT_EQ(choose_rail(rails, kStripe, kStripe, kWindow), kNoRail);
}

TEST(StripePlan, SomethingIsAlwaysGivenAwayWhenNothingIsDue) {
  for (const double fast : {1.0, 1.1, 3.0, 1000.0})
    for (std::size_t count = 1; count <= 4; ++count)
      for (std::uint64_t left : {kStripe, 2 * kStripe, 50 * kStripe}) {
        std::vector<RailLoad> rails(count, {.open = true, .speed = 1, .due = 0});
        rails.back().speed = fast;
        EXPECT_NE(choose_rail(rails, kStripe, left, kWindow), kNoRail) << fast << " " << count << " " << left;
      }
}

TEST(StripePlan, AStripeLargerThanTheWindowIsTakenByAnIdleRail) {
  std::vector<RailLoad> rails = {{.open = true, .speed = 1, .due = 0}};
  EXPECT_EQ(choose_rail(rails, 2 * kWindow, 2 * kWindow, kWindow), 0);
}

TEST(Stripes, SharesAreToldOnceAllRailsAreMeasured) {
  RailMeter fast, slow;
  const RailMeter* const both[] = {&fast, &slow};
  fast.ask(3000, 1000);
  fast.count(3000);
  fast.over(3000, 2000, kStripe);
  EXPECT_EQ(shares_of(both), "");
  slow.ask(1000, 1000);
  slow.count(1000);
  slow.over(1000, 3000, kStripe);
  EXPECT_EQ(shares_of(both), "measured 3000.0 MB/s, 500.0 MB/s, share of the stripes so far 75 %, 25 %");
}

}  // namespace
}  // namespace ashlar::plugin
