#include "framework/runtime/process_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/object/predefined.h"

namespace ashlar::runtime {
namespace {

std::vector<PeerId> members(const ProcessSet& set) {
  std::vector<PeerId> out;
  for (Rank r = 0; r < set.members->size(); ++r) out.push_back((*set.members)[r]);
  return out;
}

TEST(ProcessSets, ListsOfRanges) {
  register_predefined_objects();
  std::vector<std::string> mistakes;
  const auto sets = read_process_sets("ocean=0-3;ashlar://APP/1=4,9,5-8:2;;x=7", 10, &mistakes);
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_TRUE(mistakes.empty());
  EXPECT_EQ(sets[0].name, "ocean");
  EXPECT_EQ(members(sets[0]), (std::vector<PeerId>{0, 1, 2, 3}));
  EXPECT_EQ(sets[1].name, "ashlar://APP/1");
  EXPECT_EQ(members(sets[1]), (std::vector<PeerId>{4, 9, 5, 7}));
  EXPECT_EQ(members(sets[2]), (std::vector<PeerId>{7}));
}

TEST(ProcessSets, MistakesAreLeftOutAndTold) {
  register_predefined_objects();
  for (const char* text : {"a", "a=", "=0", "a=1-", "a=x", "a=3-10", "a=1,1", "a=2-1", "a=0-4:0", "a=1;b"}) {
    std::vector<std::string> mistakes;
    const auto sets = read_process_sets(text, 10, &mistakes);
    EXPECT_EQ(mistakes.size(), 1u) << text;
    EXPECT_LE(sets.size(), 1u) << text;
    EXPECT_THAT(mistakes[0], testing::HasSubstr("is left out")) << text;
  }
}

}  // namespace
}  // namespace ashlar::runtime
