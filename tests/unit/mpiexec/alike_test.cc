#include "mpiexec/alike.h"

#include <gmock/gmock.h>

namespace ashlar::mpiexec {
namespace {

using testing::ElementsAre;

std::string together(const std::vector<std::string>& texts) {
  std::vector<RankText> said;
  for (unsigned r = 0; r < texts.size(); ++r) said.push_back({r, texts[r]});
  std::string out;
  for (const SaidAlike& s : put_together(said)) out += (out.empty() ? "" : "|") + these_ranks(s.ranks) + ": " + s.text;
  return out;
}

TEST(Alike, EqualTextsAreOne) { EXPECT_EQ(together({"no memory", "no memory"}), "Ranks 0-1: no memory"); }

TEST(Alike, OtherTextsKeepTheirRanks) {
  EXPECT_EQ(together({"no memory", "no room", "no memory"}), "Ranks 0 and 2: no memory|Rank 1: no room");
}

TEST(Alike, NumbersThatDifferAreListed) {
  EXPECT_EQ(together({"(rank 0 of 4): dest is 4", "(rank 1 of 4): dest is 5", "(rank 3 of 4): dest is 9"}),
            "Ranks 0-2: (rank 0-1 and 3 of 4): dest is 4-5 and 9");
}

TEST(Alike, NegativeNumbersAreNoRanges) {
  EXPECT_EQ(together({"tag is -2", "tag is -1", "tag is 0", "tag is 7"}), "Ranks 0-3: tag is -2, -1, 0 and 7");
}

TEST(Alike, ManyValuesAreCounted) {
  std::vector<std::string> texts;
  for (int i = 0; i < 2000; ++i) texts.push_back("bytes " + std::to_string(3 * i));
  EXPECT_EQ(together(texts), "2,000 ranks (0-1999): bytes 0, 3, 6, 9, 12, 15 and 1,994 more");
}

TEST(Alike, AddressesAreValuesAndNoRanges) {
  EXPECT_EQ(together({"at 0x10", "at 0x11", "at 0x7fffffffffffffff"}),
            "Ranks 0-2: at 0x10, 0x11 and 0x7fffffffffffffff");
}

TEST(Alike, LongNumbersAreValues) {
  EXPECT_EQ(together({"99999999999999999999", "99999999999999999998"}),
            "Ranks 0-1: 99999999999999999998 and 99999999999999999999");
}

TEST(Alike, DigitsWithinNamesTellTextsApart) {
  EXPECT_EQ(together({"MPI_INT8_T", "MPI_INT16_T"}), "Rank 0: MPI_INT8_T|Rank 1: MPI_INT16_T");
  EXPECT_EQ(together({"on node1", "on node2"}), "Ranks 0-1: on node1-2");
}

TEST(Alike, WhereTheTextBeginsOrEndsDoesNotMatter) {
  EXPECT_EQ(together({"1", "2"}), "Ranks 0-1: 1-2");
  EXPECT_EQ(together({"", ""}), "Ranks 0-1: ");
}

TEST(Alike, ARankThatSaysItTwiceIsOneRank) {
  EXPECT_THAT(put_together({{3, "no 1"}, {3, "no 2"}}).at(0).ranks, ElementsAre(3u));
}

TEST(Alike, FromFiveRanksOnTheyAreCounted) {
  EXPECT_EQ(these_ranks({17}), "Rank 17");
  EXPECT_EQ(these_ranks({0, 1, 5}), "Ranks 0-1 and 5");
  EXPECT_EQ(these_ranks({0, 1, 2, 3, 5}), "5 ranks (0-3 and 5)");
}

}  // namespace
}  // namespace ashlar::mpiexec
