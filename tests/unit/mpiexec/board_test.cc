#include "mpiexec/board.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "framework/plugin/launch_board.h"

namespace ashlar::mpiexec {
namespace {

TEST(BoardTest, VariablesOfEachRankHaveLinesOfTheirOwn) {
  // Texts of every length stand before them.
  for (std::size_t length = 1; length < 130; ++length) {
    BoardFacts facts;
    facts.job_id = "test";
    facts.params = std::string(length, 'x');
    facts.ranks = facts.universe = 3;
    Board board;
    ASSERT_TRUE(board.make(facts).ok());
    for (unsigned rank = 0; rank < facts.ranks; ++rank) {
      const launch::BoardVariables& variables = launch::board_variables(board.header(), board.slot(rank));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&variables) % alignof(launch::BoardVariables), 0u)
          << "rank " << rank << ", parameters of " << length << " bytes";
    }
  }
}

class FencesTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    BoardFacts facts;
    facts.job_id = "test";
    facts.ranks = facts.universe = 3;
    facts.keep_going = GetParam();
    ASSERT_TRUE(board_.make(facts).ok());
  }
  void enter(unsigned rank) {
    board_.slot(rank).fences.fetch_add(1);
    board_.header()->arrivals.fetch_add(1);
  }
  std::uint32_t entered() { return launch::board_fences_entered(board_.header()); }
  std::uint32_t news(unsigned rank) { return board_.slot(rank).news.load(); }

  Board board_;
};

TEST_P(FencesTest, AreEnteredWhenAllRanksHave) {
  for (std::uint32_t fence = 1; fence < 4; ++fence) {
    for (const unsigned rank : {2u, 0u, 1u}) {
      EXPECT_EQ(entered(), fence - 1);
      enter(rank);
    }
    EXPECT_EQ(entered(), fence);
  }
}

TEST_P(FencesTest, WaitForAFailedRankOnlyWhereTheJobEnds) {
  for (const unsigned rank : {0u, 1u, 2u}) enter(rank);
  enter(0);
  enter(1);
  board_.ended(2, /*wait_status=*/9, /*failed=*/true);
  const bool keep_going = GetParam();
  EXPECT_EQ(entered(), keep_going ? 2u : 1u);
  EXPECT_EQ(news(0) != 0, keep_going) << "ranks that go on are to hear of it";
  if (!keep_going) return;
  enter(1);
  EXPECT_EQ(entered(), 2u) << "rank 0 has entered two";
  board_.ended(0, 9, true);
  EXPECT_EQ(entered(), 3u) << "rank 1 is the only one left";
}

TEST_P(FencesTest, RankThatEndedInOrderIsNotLeftBehind) {
  enter(0);
  enter(1);
  board_.ended(2, /*wait_status=*/0, /*failed=*/false);
  EXPECT_EQ(entered(), 0u);
}

INSTANTIATE_TEST_SUITE_P(OnFailure, FencesTest, testing::Bool(),
                         [](const auto& on) { return on.param ? "Continue" : "End"; });

TEST(FenceOfBoardTest, NeverGoesBack) {
  BoardFacts facts;
  facts.job_id = "test";
  facts.ranks = facts.universe = 1;
  Board board;
  ASSERT_TRUE(board.make(facts).ok());
  for (const std::uint32_t fence : {2u, 1u, 2u}) launch::board_complete_fence(board.header(), fence);
  EXPECT_EQ(board.header()->generation.load(), 2u);
  EXPECT_EQ(board.header()->event.load(), 3u);
}

}  // namespace
}  // namespace ashlar::mpiexec
