#include "components/transport/common/card.h"

#include <gtest/gtest.h>

#include "tests/unit/scratch_folder.h"

// Which of a node's cards a process takes.
namespace ashlar::network {
namespace {

class Cards : public testing::Test {
 protected:
  /// The folder of a card that is near these processors; empty: the system does not say.
  std::string card(const std::string& processors) {
    const std::string name = std::to_string(++made_);
    if (!processors.empty()) scratch_.write(name + "/local_cpulist", processors + "\n");
    return scratch_ / name;
  }

  ScratchFolder scratch_;
  int made_ = 0;
};

TEST_F(Cards, OneIsTakenByAll) {
  const std::vector<std::string> one = {card("0-7")};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(turn_of(rank, {9}, one).card, 0u);
    EXPECT_EQ(turn_of(rank, {9}, one).why, "");
  }
}

TEST_F(Cards, ProcessesThatAreNotBoundTakeAllInTurn) {
  const std::vector<std::string> cards = {card("0-3"), card("4-7"), card("4-7")};
  for (std::uint32_t rank = 0; rank < 7; ++rank)
    EXPECT_EQ(turn_of(rank, {0, 1, 2, 3, 4, 5, 6, 7}, cards).card, rank % 3);
  EXPECT_EQ(turn_of(0, {0, 5}, cards).why, "processes of this node take 3 cards in turn");
}

TEST_F(Cards, WhereTheSystemDoesNotSayAllAreTakenInTurn) {
  const std::vector<std::string> cards = {card(""), card("")};
  for (std::uint32_t rank = 0; rank < 4; ++rank) EXPECT_EQ(turn_of(rank, {rank}, cards).card, rank % 2);
  EXPECT_EQ(turn_of(1, {}, {card("0-3"), card("4-7")}).card, 1u);
}

// Two groups of processors with two cards each. Whether ranks are dealt to the groups in turn or in blocks, each card
// has as many.
TEST_F(Cards, BoundProcessesTakeThoseNearTheirProcessorsInTurn) {
  const std::vector<std::string> cards = {card("0-3,16-19"), card("8-11"), card("0-3,16-19"), card("8-11")};
  const std::vector<unsigned> first = {2}, second = {9, 10};
  for (const bool blocks : {false, true}) {
    std::vector<unsigned> taken(4);
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
      const bool in_first = blocks ? rank < 4 : rank % 2 == 0;
      const Turn turn = turn_of(rank, in_first ? first : second, cards);
      EXPECT_EQ(turn.card % 2, in_first ? 0u : 1u);
      ++taken[turn.card];
    }
    EXPECT_EQ(taken, std::vector<unsigned>(4, 2)) << blocks;
  }
  EXPECT_EQ(turn_of(0, first, cards).why,
            "processes of this node take the 2 of 4 cards that are near their processors in turn");
}

/// The card that a process takes, and so many further ones.
std::vector<std::size_t> cards_of(const Turn& turn, std::size_t count) {
  std::vector<std::size_t> all = {turn.card};
  all.insert(all.end(), turn.further.begin(), turn.further.end());
  all.resize(count);
  return all;
}

TEST_F(Cards, FewProcessesShareOutAllOfThem) {
  using List = std::vector<std::size_t>;
  const std::vector<std::string> cards = {card("0-3"), card("4-7"), card("0-3"), card("4-7")};
  const std::vector<unsigned> all = {0, 4}, first = {2}, second = {6};
  EXPECT_EQ(cards_of(turn_of(0, all, cards, 1), 4), (List{0, 1, 2, 3}));
  EXPECT_EQ(cards_of(turn_of(0, first, cards, 1), 4), (List{0, 2, 1, 3}));
  for (const bool bound : {false, true})
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const std::vector<unsigned>& processors = !bound ? all : rank == 0 ? first : second;
      const List own = cards_of(turn_of(rank, processors, cards, 2), 2);
      EXPECT_EQ(own, rank == 0 ? (List{0, 2}) : (List{1, 3})) << bound;
    }
}

}  // namespace
}  // namespace ashlar::network
