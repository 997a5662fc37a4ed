#include "components/launch/pmi/node_map.h"

#include <gtest/gtest.h>

#include <string>

namespace ashlar::launch {
namespace {

// "0011": the node of each rank.
std::string nodes(const char* text, std::uint32_t ranks) {
  std::vector<std::uint32_t> node_of_rank;
  if (!parse_node_map(text, ranks, &node_of_rank)) return node_of_rank.empty() ? "none" : "something";
  std::string digits;
  for (const std::uint32_t node : node_of_rank) digits += std::to_string(node);
  return digits;
}

TEST(PmiNodeMap, BlocksOfNodes) {
  EXPECT_EQ(nodes("(vector,(0,1,4))", 4), "0000");
  EXPECT_EQ(nodes("(vector,(0,2,2))", 4), "0011");
  EXPECT_EQ(nodes("(vector,(0,2,1),(2,1,3))", 5), "01222");
  EXPECT_EQ(nodes("(vector,(0,3,1),(0,3,1))", 6), "012012") << "around the nodes";
}

TEST(PmiNodeMap, TheListBeginsAgain) {
  EXPECT_EQ(nodes("(vector,(0,1,1))", 3), "000");
  EXPECT_EQ(nodes("(vector,(0,2,1))", 5), "01010");
}

TEST(PmiNodeMap, MoreThanTheRanksIsLeftOut) {
  EXPECT_EQ(nodes("(vector,(0,4294967295,4294967295))", 3), "000");
  EXPECT_EQ(nodes("(vector,(0,4294967295,1))", 3), "012");
}

TEST(PmiNodeMap, NodesAreNumberedByTheirFirstRank) {
  EXPECT_EQ(nodes("(vector,(7,1,2),(3,1,1),(4294967295,2,1))", 5), "00123");
}

TEST(PmiNodeMap, WhatIsNoMapIsNone) {
  for (const char* text :
       {"", "(", "()", "(vector)", "(vector,)", "(vector,())", "(vector,(0,0,1))", "(vector,(0,1,0))",
        "(vector,(-1,1,1))", "(vector,(0,1,1)", "(vector,(0,1,1)))", "(vector,(0,1,1),)", "(vector,(0,1))",
        "(vector,(0,1,99999999999))", "(vector,( 0,1,1))", "(matrix,(0,1,1))", "unknown"})
    EXPECT_EQ(nodes(text, 4), "none") << text;
}

TEST(PmiNodeMap, NumbersOfIdentities) {
  EXPECT_EQ(number_nodes({9, 4, 9, 0, 4}), (std::vector<std::uint32_t>{0, 1, 0, 2, 1}));
}

}  // namespace
}  // namespace ashlar::launch
