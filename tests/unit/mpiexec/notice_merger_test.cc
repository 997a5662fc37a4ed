#include "mpiexec/notice_merger.h"

#include <gmock/gmock.h>

namespace ashlar::mpiexec {
namespace {

constexpr std::uint64_t kNow = 1'000'000'000, kMoment = 100'000'000;

class NoticeMergerTest : public testing::Test {
 protected:
  void add(unsigned rank, std::string_view bytes) { merger_.add(rank, bytes, kNow); }
  static std::string notice(unsigned rank, const std::string& words) {
    return "ashlar: rank " + std::to_string(rank) + " of 4 on node1: warning: " + words + "\n";
  }
  /// What has come out since the last call.
  std::string out() {
    std::string all(to_.ready());
    to_.written(all.size());
    return all;
  }

  LineMerger to_{4, {}};
  NoticeMerger merger_{4, true, &to_};
};

TEST_F(NoticeMergerTest, OtherTextPassesAtOnce) {
  add(0, "one\ntwo\nthr");
  EXPECT_EQ(out(), "one\ntwo\n");
  add(0, "ee\n");
  EXPECT_EQ(out(), "three\n");
  EXPECT_EQ(merger_.due_ns(), 0u);
}

TEST_F(NoticeMergerTest, EqualWarningsAreOneParagraph) {
  for (const unsigned r : {1u, 0u, 3u})
    add(r, notice(r, "no room for " + std::to_string(10 + r) + " bytes\n  - try less"));
  EXPECT_EQ(out(), "");
  EXPECT_EQ(merger_.due_ns(), kNow + kMoment);
  merger_.flush();
  EXPECT_EQ(out(), "ashlar: ranks 0-1 and 3 of 4 on node1: warning: no room for 10-11 and 13 bytes\n  - try less\n");
  EXPECT_EQ(merger_.due_ns(), 0u);
}

TEST_F(NoticeMergerTest, OneRanksWarningStaysAsItIs) {
  add(2, notice(2, "alone"));
  add(3, "ashlar: rank 3 of 4: error p2p: lost\n");
  merger_.flush();
  EXPECT_EQ(out(), notice(2, "alone") + "ashlar: rank 3 of 4: error p2p: lost\n");
}

TEST_F(NoticeMergerTest, ARanksOrderStays) {
  add(0, "before\n" + notice(0, "w") + "between\n" + notice(0, "x"));
  add(1, notice(1, "w"));
  add(1, "after, unfin");
  EXPECT_EQ(out(), "before\n");
  merger_.flush();
  EXPECT_EQ(out(), "ashlar: ranks 0-1 of 4 on node1: warning: w\nbetween\n" + notice(0, "x"));
  add(1, "ished\n");
  EXPECT_EQ(out(), "after, unfinished\n");
}

TEST_F(NoticeMergerTest, AStreamsEndDoesNotPartEqualWarnings) {
  for (const unsigned r : {0u, 1u}) {
    add(r, notice(r, "w") + "rest");
    merger_.end(r);
  }
  EXPECT_EQ(out(), "");
  merger_.flush();
  EXPECT_EQ(out(), "ashlar: ranks 0-1 of 4 on node1: warning: w\nrest\nrest");
  merger_.end(2);
}

TEST_F(NoticeMergerTest, ATextThatOnlyLooksLikeOneIsNone) {
  for (const char* const line :
       {"ashlar: rank 3 of 4 on node1: warning: another's\n", "ashlar: rank 0 of 5: warning: x\n",
        "ashlar: rank 0 of 4 on node1: info\n", " ashlar: rank 0 of 4: warning: x\n"}) {
    add(0, line);
    EXPECT_EQ(out(), line);
  }
  add(0, "text ");
  add(0, notice(0, "in the middle of a line"));
  EXPECT_EQ(out(), "text " + notice(0, "in the middle of a line"));
}

TEST_F(NoticeMergerTest, WhatARankSaysTwiceIsSaidTwice) {
  for (const unsigned r : {0u, 1u}) add(r, notice(r, "again") + notice(r, "again"));
  add(2, notice(2, "again"));
  merger_.flush();
  EXPECT_EQ(out(),
            "ashlar: ranks 0-2 of 4 on node1: warning: again\nashlar: ranks 0-1 of 4 on node1: warning: again\n");
}

TEST_F(NoticeMergerTest, NumbersOfOneRankDoNotHideOneOfItsWarnings) {
  add(0, notice(0, "lost 1") + notice(0, "lost 2"));
  merger_.flush();
  EXPECT_EQ(out(), notice(0, "lost 1") + notice(0, "lost 2"));
}

TEST_F(NoticeMergerTest, ABoundIsOnWhatIsHeld) {
  add(0, notice(0, "w"));
  const std::string much(2u << 20, 'x');
  add(0, much + "\n");
  EXPECT_EQ(out(), notice(0, "w") + much + "\n");
}

TEST_F(NoticeMergerTest, SwitchedOffNothingIsHeld) {
  NoticeMerger off(4, false, &to_);
  off.add(0, notice(0, "w"), kNow);
  EXPECT_EQ(out(), notice(0, "w"));
}

}  // namespace
}  // namespace ashlar::mpiexec
