// Who gets into which communicator of a split, and in which order.
#include "framework/comm/split.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <climits>
#include <vector>

#include "framework/object/group.h"

namespace ashlar::comm {
namespace {

std::vector<PeerId> members(const std::vector<std::int64_t>& choices, int color) {
  // The ranks are processes 10, 12, 14 ...: what comes out are processes, not ranks.
  const Ref<Group> all = Ref<Group>::adopt(Group::strided(10, 2, static_cast<int>(choices.size())));
  const Ref<Group> group = Ref<Group>::adopt(members_of(*all, choices, color));
  std::vector<PeerId> out;
  for (Rank r = 0; r < group->size(); ++r) out.push_back((*group)[r]);
  return out;
}

TEST(Split, WordsKeepColorAndKeyApart) {
  for (const int color : {0, 1, INT_MAX, MPI_UNDEFINED, kUnguidedMark})
    for (const int key : {0, 1, -1, INT_MAX, INT_MIN}) EXPECT_EQ(choice_color(choice_word(color, key)), color) << key;
}

TEST(Split, KeysOrderAndTiesKeepTheOrderOfRanks) {
  const std::vector<std::int64_t> choices = {choice_word(1, 5), choice_word(2, 0), choice_word(1, 3), choice_word(1, 5),
                                             choice_word(1, -2)};
  EXPECT_EQ(members(choices, 1), (std::vector<PeerId>{18, 14, 10, 16}));
  EXPECT_EQ(members(choices, 2), (std::vector<PeerId>{12}));
}

TEST(Split, ExtremeKeysCompareAsSigned) {
  const std::vector<std::int64_t> choices = {choice_word(0, INT_MAX), choice_word(0, INT_MIN), choice_word(0, 0)};
  EXPECT_EQ(members(choices, 0), (std::vector<PeerId>{12, 14, 10}));
}

TEST(Split, RanksWithoutAColorAreInNoneOfThem) {
  const std::vector<std::int64_t> choices = {choice_word(MPI_UNDEFINED, 0), choice_word(0, 1), choice_word(0, 0)};
  EXPECT_EQ(members(choices, 0), (std::vector<PeerId>{14, 12}));
  EXPECT_TRUE(members(choices, 3).empty());
}

}  // namespace
}  // namespace ashlar::comm
