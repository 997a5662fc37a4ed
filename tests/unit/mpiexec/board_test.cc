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

}  // namespace
}  // namespace ashlar::mpiexec
