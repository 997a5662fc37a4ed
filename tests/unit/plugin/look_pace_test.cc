#include "framework/plugin/look_pace.h"

#include <gtest/gtest.h>

// When a transport looks: at once after something happened, then by the clock, and more rarely where that is in vain.
namespace ashlar::plugin {
namespace {

constexpr std::uint64_t kInterval = 2'000'000;

/// The time since the last look when the next one is due.
std::uint64_t apart(LookPace* pace) {
  do pace->begin_round();
  while (!pace->due());
  return now_ns() - pace->clock();
}

/// Looks in vain until the next one is due by the clock, `more` times again.
void cool_down(LookPace* pace, int more) {
  for (int looks = 0; looks < 300; ++looks) {
    pace->begin_round();
    ASSERT_TRUE(pace->due()) << looks;
    pace->begin_look();
  }
  for (int looks = 0; looks < more; ++looks) pace->begin_look();
}

TEST(LookPace, LooksAreAnIntervalApart) {
  LookPace pace;
  pace.set(kInterval, true);
  pace.heat();
  cool_down(&pace, 0);
  pace.begin_look();
  EXPECT_GE(apart(&pace), kInterval);
}

TEST(LookPace, LooksThatWereInVainAreFourIntervalsApart) {
  LookPace pace;
  pace.set(kInterval, true);
  pace.heat();
  cool_down(&pace, 100);
  EXPECT_GE(apart(&pace), 4 * kInterval);
}

// The clock says only that it was no sooner; that it was no later shows by the rounds before it, none of which was due.
TEST(LookPace, WhatIsSentMayBeAnswered) {
  LookPace pace;
  pace.set(kInterval, true);
  pace.heat();
  cool_down(&pace, 100);
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
  cool_down(&pace, 200);
  for (int round = 0; round < 10; ++round) {
    pace.begin_round();
    EXPECT_TRUE(pace.due());
    pace.begin_look();
  }
}

}  // namespace
}  // namespace ashlar::plugin
