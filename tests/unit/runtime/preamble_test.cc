// Processes that must not talk to each other find out before the first message.
#include "framework/runtime/preamble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace ashlar::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class PreambleTest : public testing::Test {
 protected:
  std::string difference() const { return disagreement(own, 0, peer); }
  Preamble own = make_preamble(1, 4, "site.yaml:2");
  PeerPreamble peer{.preamble = make_preamble(1, 4, nullptr), .complete = true, .rank = 3, .host = "node7"};
};

TEST_F(PreambleTest, EqualOnesAgreeWhoeverSetTheLanes) { EXPECT_EQ(difference(), ""); }

TEST_F(PreambleTest, OneLaneGoesWithAnyNumber) {
  peer.preamble = make_preamble(1, 1, nullptr);
  EXPECT_EQ(difference(), "");
  own = make_preamble(1, 1, nullptr);
  peer.preamble = make_preamble(1, 8, "x");
  EXPECT_EQ(difference(), "");
}

TEST_F(PreambleTest, NumbersOfLanesThatDifferAreNamedWithTheirOrigins) {
  peer.preamble = make_preamble(1, 2, nullptr);
  EXPECT_THAT(difference(), AllOf(HasSubstr("rank 3 on node7 has threads.lanes 2 (built in)"),
                                  HasSubstr("this process, rank 0, has 4 (site.yaml:2)")));
}

// The parameters that differ are named by others, who read all of them.
TEST_F(PreambleTest, SettingsAreNotComparedHere) {
  peer.preamble = make_preamble(2, 4, nullptr);
  EXPECT_EQ(difference(), "");
}

TEST_F(PreambleTest, AnotherKernelIsNamedByItsVersion) {
  std::strcpy(peer.preamble.version, "9.9");
  EXPECT_THAT(difference(), HasSubstr("rank 3 on node7 uses kernel 9.9 with transport interface"));
}

TEST_F(PreambleTest, LessThanAPreambleComesFromAnotherKernel) {
  peer.complete = false;
  EXPECT_THAT(difference(), HasSubstr("uses kernel"));
}

TEST_F(PreambleTest, LongOriginsAreCut) {
  const std::string origin(300, 'x');
  EXPECT_LT(std::strlen(make_preamble(1, 4, origin.c_str()).lanes_from), sizeof own.lanes_from);
}

}  // namespace
}  // namespace ashlar::runtime
