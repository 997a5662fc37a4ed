#include "framework/plugin/look_pace.h"

#include <gtest/gtest.h>

// When a transport looks: at once after something happened, then by the clock, and more rarely where that is in vain.
namespace ashlar::plugin {
namespace {

constexpr std::uint64_t kInterval = 2'000'000;
constexpr int kHotLooks = 300;

/// The time since the last look when the next one is due.
std::uint64_t apart(LookPace* pace) {
  do pace->begin_round();
  while (!pace->due());
  return now_ns() - pace->clock();
}

/// As it is `looks` in vain after something has happened; all that are hot are over.
LookPace after(int looks) {
  LookPace pace;
  pace.set(kInterval, true);
  pace.heat();
  for (int i = 0; i < looks; ++i) {
    pace.begin_round();
    EXPECT_TRUE(pace.due() || i >= kHotLooks) << i;
    pace.begin_look();
  }
  return pace;
}

TEST(LookPace, LooksAreAnIntervalApart) {
  LookPace pace = after(kHotLooks + 1);
  EXPECT_GE(apart(&pace), kInterval);
}

TEST(LookPace, LooksThatWereInVainAreFourIntervalsApart) {
  LookPace pace = after(kHotLooks + 100);
  EXPECT_GE(apart(&pace), 4 * kInterval);
}

// The clock says only that it was no sooner; that it was no later shows by the rounds before it, none of which was due.
TEST(LookPace, WhatIsSentMayBeAnswered) {
  LookPace pace = after(kHotLooks + 100);
  pace.expect();
  for (bool due = false; !due;) {
    const std::uint64_t before = now_ns() - pace.clock();
    pace.begin_round();
    due = pace.due();
    EXPECT_TRUE(due || before < kInterval) << before;
  }
}

TEST(LookPace, WithoutAnIntervalEachRoundLooks) {
  LookPace pace;
  pace.set(0, false);
  for (int round = 0; round < kHotLooks + 210; ++round) {
    pace.begin_round();
    EXPECT_TRUE(pace.due());
    pace.begin_look();
  }
}

TEST(LookPace, APauseComesBeforeOneLook) {
  LookPace pace = after(0);
  pace.heat();
  const std::uint64_t from = pace.clock();
  pace.pause(2 * kInterval);
  EXPECT_GE(apart(&pace), 2 * kInterval);
  EXPECT_GE(now_ns() - from, 2 * kInterval);
  EXPECT_TRUE(pace.due()) << "hot as before";
}

}  // namespace
}  // namespace ashlar::plugin
