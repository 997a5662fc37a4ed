#include "framework/param/condition.h"

#include <gmock/gmock.h>

namespace ashlar::param {
namespace {

using testing::HasSubstr;

std::string when(std::string text) {  // "host|gpu*;ranks|>=4", readable here
  for (char& c : text) c = c == '|' ? kOr : c == ';' ? kAnd : c;
  return text;
}

Context here() {
  Context c;
  c.host = "gpu7";
  c.launcher = "srun";
  c.ranks = 64;
  c.ranks_per_node = 8;
  c.container = false;
  c.fabrics = std::vector<std::string>{"mlx5_0", "infiniband"};
  return c;
}

bool holds_here(const char* text, std::string* why_not = nullptr) {
  Context c = here();
  return holds(when(text), c, why_not);
}

TEST(Condition, EverySubject) {
  EXPECT_TRUE(holds_here(""));
  EXPECT_TRUE(holds_here("host|node*|gpu[0-9]"));
  EXPECT_FALSE(holds_here("host|!gpu*"));
  EXPECT_TRUE(holds_here("launcher|srun"));
  EXPECT_TRUE(holds_here("container|false"));
  EXPECT_FALSE(holds_here("container|true"));
  EXPECT_TRUE(holds_here("container|No"));
  EXPECT_FALSE(holds_here("container|On"));
  EXPECT_TRUE(holds_here("fabric|mlx5*"));
  EXPECT_TRUE(holds_here("fabric|infiniband"));
  EXPECT_FALSE(holds_here("fabric|cxi"));
}

TEST(Condition, RangesOfRanks) {
  for (const char* yes :
       {"ranks|64", "ranks|>=64", "ranks|>63", "ranks|<=64", "ranks|<65", "ranks|2..64", "ranks|1|64"})
    EXPECT_TRUE(holds_here(yes)) << yes;
  for (const char* no : {"ranks|63", "ranks|>64", "ranks|<64", "ranks|65..100"}) EXPECT_FALSE(holds_here(no)) << no;
  EXPECT_TRUE(holds_here("ranks_per_node|8"));
}

TEST(Condition, AllMustHoldAndTheFirstFailureIsExplained) {
  std::string why;
  EXPECT_FALSE(holds_here("ranks|64;host|cpu*|fat?", &why));
  EXPECT_EQ(why, "only when host cpu* or fat?; this host is gpu7");
}

TEST(Condition, UnknownNumbersNeverHold) {
  Context c;
  c.host = "h";
  std::string why;
  EXPECT_FALSE(holds(when("ranks|>=0"), c, &why));
  EXPECT_THAT(why, HasSubstr("not known"));
}

TEST(Condition, MistakesAreSentences) {
  EXPECT_TRUE(check_when(when("host|a*;ranks|>=4")).ok());
  EXPECT_THAT(check_when(when("hsot|a*")).text(), HasSubstr("did you mean 'host'?"));
  EXPECT_THAT(check_when(when("ranks|many")).text(), HasSubstr("'many' is not a number of ranks"));
  for (const char* const no_number : {"ranks|16..2", "ranks|<0", "ranks_per_node|>2147483647", "ranks|2147483648"})
    EXPECT_THAT(check_when(when(no_number)).text(), HasSubstr("is not a number of ranks")) << no_number;
  EXPECT_TRUE(check_when(when("container|Yes|0")).ok());
  EXPECT_THAT(check_when(when("container|maybe")).text(), HasSubstr("container is true or false, not 'maybe'"));
}

}  // namespace
}  // namespace ashlar::param
