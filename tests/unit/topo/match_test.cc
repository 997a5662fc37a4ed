// What the kernel makes of a component's answer.
#include "framework/topo/match.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include "framework/comm/engine.h"
#include "framework/object/comm.h"
#include "framework/topo/engine.h"
#include "framework/topo/params.h"
#include "framework/topo/place.h"

namespace ashlar::topo {
namespace {

/// A component that gives the answer that a test wants.
std::vector<Rank> answer;
ashlar_result result = ASHLAR_OK;
ashlar_result give_answer(ashlar_topology*, const ashlar_topology_problem* problem, std::int32_t* order) {
  EXPECT_EQ(problem->kinds, static_cast<std::int32_t>(kPlaceKinds));
  for (std::int32_t i = 0; i < problem->nodes; ++i) order[i] = answer[static_cast<std::size_t>(i)];
  return result;
}
constexpr ashlar_topology_ops kOps = {.size = sizeof kOps, .type = nullptr, .instance = nullptr, .match = give_answer};

class MatchTest : public testing::Test {
 protected:
  // Two pairs, on two machines the wrong way round.
  void SetUp() override {
    result = ASHLAR_OK;
    for (const Rank other : {1, 0, 3, 2}) {
      pairs.add(other, 10);
      pairs.end_node();
    }
    places.resize(4);
    for (std::size_t p = 0; p < 4; ++p) {
      places[p].fill(-1);
      places[p][0] = static_cast<std::int64_t>(p % 2);
    }
  }
  void expect_kept(const Matching& m) {
    EXPECT_NE(m.kept, nullptr);
    EXPECT_EQ(m.after, m.before);
    EXPECT_EQ(m.order, (std::vector<Rank>{0, 1, 2, 3}));
  }
  Pattern pairs;
  std::vector<Place> places;
  ashlar_topology component{&kOps};
  Engine engine{Config{.reorder = kMatch}};
};

TEST_F(MatchTest, AGainIsTaken) {
  answer = {0, 2, 1, 3};
  const Matching m = match(pairs, places, &component);
  EXPECT_EQ(m.order, answer);
  EXPECT_EQ(m.before, 40);
  EXPECT_EQ(m.after, 0);
  EXPECT_EQ(m.kept, nullptr);
}

TEST_F(MatchTest, WhatIsNoGainOrNoOrderIsNot) {
  expect_kept(match(pairs, places, nullptr));
  answer = {1, 0, 3, 2};
  expect_kept(match(pairs, places, &component));
  for (const auto& bad : {std::vector<Rank>{0, 0, 1, 2}, {0, 1, 2, 4}, {-1, 0, 1, 2}}) {
    answer = bad;
    expect_kept(match(pairs, places, &component));
  }
  answer = {0, 2, 1, 3};
  result = -1;
  expect_kept(match(pairs, places, &component));
}

TEST_F(MatchTest, NobodyIsAskedWhereNothingCanBeGained) {
  for (Place& place : places) place.fill(-1);
  answer.clear();
  expect_kept(match(pairs, places, &component));
}

/// What MPI_Cart_map and MPI_Graph_map answer: by the machines of the ranks, without a message.
class MapTest : public MatchTest {
 protected:
  void SetUp() override {
    MatchTest::SetUp();
    services.parts.matcher = &component;
    for (Rank r = 0; r < 5; ++r) {
      members[r].local_group = Ref<Group>::adopt(Group::strided(0, 1, 5));
      members[r].rank = r;
      members[r].size = 5;
    }
    answer = {0, 2, 1, 3};
  }
  /// Two machines with every second process each, or `only_node` with all.
  struct Process final : comm::Services {
    Lane* lane_of(std::uint32_t) override { return nullptr; }
    std::uint32_t node_of(PeerId peer) const override { return only_node ? 7 : peer % 2; }
    std::uint64_t node_identity(PeerId peer) override { return node_of(peer); }
    const comm::Hardware& hardware() override { return parts; }
    Status everyone(Comm**) override { return {}; }
    bool in_process_set(const char*) override { return false; }
    comm::Hardware parts;
    bool only_node = false;
  };

  Process services;
  comm::Engine comm_engine{services, /*check_hints=*/false};
  Comm members[5];
};

TEST_F(MapTest, RanksOfOneMachineTakeNodesThatTalk) {
  const Rank expected[] = {0, 2, 1, 3, MPI_UNDEFINED};
  for (Rank r = 0; r < 5; ++r) EXPECT_EQ(map(members[r], pairs), expected[r]);
}

TEST_F(MapTest, TheOwnRankWhereNothingCanBeGained) {
  services.only_node = true;
  for (Rank r = 0; r < 5; ++r) EXPECT_EQ(map(members[r], pairs), r < 4 ? r : MPI_UNDEFINED);
}

TEST_F(MapTest, TheOwnRankWhenRanksMayNotChange) {
  const Engine never{Config{.reorder = kNone}};
  for (Rank r = 0; r < 5; ++r) EXPECT_EQ(map(members[r], pairs), r < 4 ? r : MPI_UNDEFINED);
}

}  // namespace
}  // namespace ashlar::topo
