// Components that match, by what the kernel makes of their answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "framework/topo/engine.h"
#include "framework/topo/match.h"
#include "tests/conformance/topology/component.h"

namespace ashlar::topo {
namespace {

class Match : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    module_ = test::TopologyComponents::all().module(GetParam());
    ASSERT_NE(module_, nullptr);
  }
  Matching match(const Pattern& pattern, const std::vector<Place>& places) const {
    return topo::match(pattern, places, module_.get());
  }
  Engine engine_{Config{.reorder = kMatch}};
  test::Module module_;
};

Pattern grid(int rows, int columns) {
  Pattern pattern;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      if (r + 1 < rows) pattern.add((r + 1) * columns + c);
      if (c + 1 < columns) pattern.add(r * columns + c + 1);
      pattern.end_node();
    }
  return pattern;
}

/// Processes dealt out over the nodes in turn, which is bad for grids.
std::vector<Place> dealt_out(int processes, int nodes) {
  std::vector<Place> places(static_cast<std::size_t>(processes));
  for (int p = 0; p < processes; ++p) {
    Place& place = places[static_cast<std::size_t>(p)];
    place.fill(-1);
    place[0] = p % nodes;
    place[6] = p;
  }
  return places;
}

bool is_permutation_of_ranks(std::vector<Rank> order) {
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<Rank>(i)) return false;
  return true;
}

TEST_P(Match, BringsTheRowsOfAGridTogether) {
  const Matching m = match(grid(8, 8), dealt_out(64, 16));
  EXPECT_TRUE(is_permutation_of_ranks(m.order));
  EXPECT_LT(m.after, 0.9 * m.before);
}

TEST_P(Match, FindsThePerfectPlaceOfPairs) {
  Pattern pairs;  // 0-1, 2-3 ...
  for (int i = 0; i < 32; ++i) {
    pairs.add(i ^ 1, 5);
    pairs.end_node();
  }
  std::vector<Place> places = dealt_out(32, 16);
  for (Place& place : places) place[6] = -1;
  const Matching m = match(pairs, places);
  EXPECT_TRUE(is_permutation_of_ranks(m.order));
  EXPECT_EQ(m.after, 0) << "two processes fit on each node";
  EXPECT_GT(m.before, 0);
}

TEST_P(Match, LeavesEverybodyWhereNothingCanBeGained) {
  std::vector<Place> unbound(12);
  for (Place& place : unbound) place.fill(-1);
  const Matching m = match(grid(3, 4), unbound);
  for (std::size_t i = 0; i < m.order.size(); ++i) EXPECT_EQ(m.order[i], static_cast<Rank>(i));
  EXPECT_EQ(m.before, 0);
}

TEST_P(Match, IsNeverWorseAndAlwaysTheSame) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    const int n = 1 + static_cast<int>(random() % 40);
    Pattern pattern;
    for (int i = 0; i < n; ++i) {
      for (auto e = random() % 5; e > 0; --e)
        pattern.add(static_cast<Rank>(random() % static_cast<unsigned>(n)), static_cast<int>(random() % 10));
      pattern.end_node();
    }
    std::vector<Place> places(static_cast<std::size_t>(n));
    for (Place& place : places)
      for (auto& kind : place) kind = static_cast<std::int64_t>(random() % 4) - 1;
    const Matching m = match(pattern, places);
    EXPECT_TRUE(is_permutation_of_ranks(m.order));
    EXPECT_LE(m.after, m.before);
    EXPECT_EQ(match(pattern, places).order, m.order);
  }
}

/// Four nodes of eight cores, four of which share a cache; a torus whose ranks were dealt out.
TEST_P(Match, UsesEveryLevelOfTheTree) {
  Pattern torus;
  for (int r = 0; r < 32; ++r) {
    const int row = r / 8, column = r % 8;
    for (const int other : {(row + 1) % 4 * 8 + column, (row + 3) % 4 * 8 + column, row * 8 + (column + 1) % 8,
                            row * 8 + (column + 7) % 8})
      torus.add(other);
    torus.end_node();
  }
  std::vector<Place> places = dealt_out(32, 4);
  for (int p = 0; p < 32; ++p) {
    places[static_cast<std::size_t>(p)][3] = p % 4 * 2 + p / 4 % 2;  // which cache
    places[static_cast<std::size_t>(p)][6] = p;
  }
  const Matching m = match(torus, places);
  EXPECT_TRUE(is_permutation_of_ranks(m.order));
  // Two columns on each node, in squares of four: every edge leaves its core, a quarter its node, another quarter the
  // cache.
  EXPECT_LE(m.after, 128 + 32 + 64);
}

TEST_P(Match, ManyProcessesTakeSeconds) {
  const Matching m = match(grid(64, 64), dealt_out(4096, 128));
  EXPECT_TRUE(is_permutation_of_ranks(m.order));
  EXPECT_LT(m.after, 0.8 * m.before);
}

INSTANTIATE_TEST_SUITE_P(Installed, Match, testing::ValuesIn(test::TopologyComponents::with(ASHLAR_TOPOLOGY_MATCHES)),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace ashlar::topo
