#include "mpiexec/stall_watch.h"

#include <gtest/gtest.h>

#include <optional>

#include "mpiexec/board.h"

namespace ashlar::mpiexec {
namespace {

using launch::RankEnd;
using launch::RankState;

constexpr std::uint64_t kSecond = 1'000'000'000, kLimit = 60 * kSecond, kBegin = 1000 * kSecond;

class StallWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    BoardFacts facts;
    facts.job_id = "test";
    facts.ranks = facts.universe = 2;
    ASSERT_TRUE(board_.make(facts).ok());
    for (unsigned r = 0; r < 2; ++r) board_.slot(r).state = static_cast<std::uint32_t>(RankState::kInitialized);
    watch_.emplace(board_.header(), kLimit, kBegin);
    pass(2 * kSecond);  // the watch has seen the ranks join
  }
  void waits(unsigned rank) {
    board_.slot(rank).waits = 1;
    board_.slot(rank).moved_ns = now_;
    inside_[rank] = true;
  }
  void computes(unsigned rank) {
    board_.slot(rank).waits = 0;
    inside_[rank] = false;
  }
  /// The number of stalls found in that time.
  int pass(std::uint64_t time) {
    int found = 0;
    for (const std::uint64_t end = now_ + time; now_ < end;) {
      now_ += watch_->interval_ns();
      found += watch_->look(now_) ? 1 : 0;
      for (unsigned r = 0; r < 2; ++r)
        if (inside_[r]) board_.slot(r).heard_ns = now_;
    }
    return found;
  }

  Board board_;
  std::optional<StallWatch> watch_;
  std::uint64_t now_ = kBegin;
  bool inside_[2] = {false, false};
};

TEST_F(StallWatchTest, RanksThatWaitForEachOtherAreToldOnce) {
  waits(0);
  waits(1);
  EXPECT_EQ(pass(kLimit - 2 * kSecond), 0);
  EXPECT_EQ(pass(3 * kSecond), 1);
  EXPECT_EQ(pass(10 * kLimit), 0);
}

TEST_F(StallWatchTest, ANewStallIsToldAgain) {
  waits(0);
  waits(1);
  EXPECT_EQ(pass(2 * kLimit), 1);
  waits(1);  // its wait has ended, and it is in another one
  EXPECT_EQ(pass(kLimit - 2 * kSecond), 0);
  EXPECT_EQ(pass(kLimit), 1);
}

TEST_F(StallWatchTest, ARankThatComputesHoldsTheOthersUp) {
  waits(0);
  computes(1);
  EXPECT_EQ(pass(2 * kLimit), 1);
}

TEST_F(StallWatchTest, RanksThatAllComputeAreNoStall) { EXPECT_EQ(pass(10 * kLimit), 0); }

TEST_F(StallWatchTest, ARankThatLooksInNowAndThenGetsOn) {
  waits(0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(pass(kLimit / 2), 0);
    board_.slot(1).heard_ns = now_;
    board_.slot(1).moved_ns = now_;
  }
}

// A loop of tests that find nothing is inside MPI, and does not get on.
TEST_F(StallWatchTest, VainTestsAreAStall) {
  waits(0);
  inside_[1] = true;
  EXPECT_EQ(pass(2 * kLimit), 1);
}

TEST_F(StallWatchTest, ARankThatHasLeftMpiGotOnThen) {
  waits(0);
  inside_[1] = true;
  EXPECT_EQ(pass(kLimit - 5 * kSecond), 0);
  inside_[1] = false;
  EXPECT_EQ(pass(kLimit - 5 * kSecond), 0);
  EXPECT_EQ(pass(kLimit), 1);
}

// A rank whose wait was registered hears of a look late when its node is busy: that is no progress.
TEST_F(StallWatchTest, ARankThatHearsLateDoesNotGetOn) {
  waits(0);
  waits(1);
  inside_[1] = false;
  int found = 0;
  for (int i = 0; i < 30; ++i) {
    found += pass(4 * kSecond);
    board_.slot(1).heard_ns = now_;
  }
  EXPECT_EQ(found, 1);
}

TEST_F(StallWatchTest, TheEndOfARankIsProgress) {
  waits(0);
  EXPECT_EQ(pass(kLimit / 2), 0);
  board_.slot(1).end = static_cast<std::uint32_t>(RankEnd::kEnded);
  EXPECT_EQ(pass(kLimit - 2 * kSecond), 0);
  EXPECT_EQ(pass(kLimit), 1);
}

TEST_F(StallWatchTest, TimeInWhichTheWatchItselfWasStoppedDoesNotCount) {
  waits(0);
  waits(1);
  EXPECT_EQ(pass(kLimit / 2), 0);
  now_ += 10 * kLimit;
  EXPECT_EQ(pass(kLimit - 2 * kSecond), 0);
  EXPECT_EQ(pass(kLimit), 1);
}

TEST_F(StallWatchTest, ShortLimitsAreWatchedOften) {
  EXPECT_EQ(watch_->interval_ns(), kSecond);
  EXPECT_EQ(StallWatch(board_.header(), kSecond, kBegin).interval_ns(), kSecond / 10);
  EXPECT_EQ(StallWatch(board_.header(), 1, kBegin).interval_ns(), 20'000'000u);
}

}  // namespace
}  // namespace ashlar::mpiexec
