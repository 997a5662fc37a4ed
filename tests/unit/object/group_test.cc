#include "framework/object/group.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <random>
#include <vector>

#include "framework/object/group_api.h"
#include "framework/object/predefined.h"

namespace ashlar {
namespace {

class GroupTest : public testing::Test {
 protected:
  void SetUp() override { register_predefined_objects(); }

  std::vector<PeerId> members(const Group& g) {
    std::vector<PeerId> out;
    for (Rank r = 0; r < g.size(); ++r) out.push_back(g[r]);
    return out;
  }
  std::vector<PeerId> random_set(int universe) {
    std::vector<PeerId> all(static_cast<std::size_t>(universe));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<PeerId>(i);
    std::shuffle(all.begin(), all.end(), random);
    all.resize(random() % (all.size() + 1));
    return all;
  }
  std::mt19937 random{20261121};
};

TEST_F(GroupTest, SequencesTakeTheSparseForm) {
  for (const auto& [first, stride] : {std::pair{0, 1}, {3, 2}, {100, -5}}) {
    std::vector<PeerId> table;
    for (int i = 0; i < 20; ++i) table.push_back(static_cast<PeerId>(first + i * stride));
    Group* g = Group::of(table);
    EXPECT_EQ(members(*g), table);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(g->rank_of(table[static_cast<std::size_t>(i)]), i);
    EXPECT_EQ(g->rank_of(static_cast<PeerId>(first + 20 * stride)), -1);
    EXPECT_EQ(g->rank_of(static_cast<PeerId>(first + 1000)), -1);
    release(g);
  }
}

TEST_F(GroupTest, AMillionStridedRanksCostNothing) {
  Group* g = Group::strided(7, 3, 1'000'000);
  EXPECT_EQ((*g)[999'999], 7u + 3u * 999'999u);
  EXPECT_EQ(g->rank_of(7 + 3 * 500'000), 500'000);
  EXPECT_EQ(g->rank_of(8), -1);
  release(g);
}

// The operations against their definitions on plain sets (MPI-5.0, 7.3.2).
TEST_F(GroupTest, AlgebraOnRandomSets) {
  for (int round = 0; round < 200; ++round) {
    const auto a = random_set(24), b = random_set(24);
    Group *ga = Group::of(a), *gb = Group::of(b), *u = nullptr, *i = nullptr, *d = nullptr;
    ASSERT_TRUE(group::union_(*ga, *gb, &u).ok());
    ASSERT_TRUE(group::intersection(*ga, *gb, &i).ok());
    ASSERT_TRUE(group::difference(*ga, *gb, &d).ok());
    std::vector<PeerId> eu = a, ei, ed;
    const auto in = [](const std::vector<PeerId>& set, PeerId p) {
      return std::find(set.begin(), set.end(), p) != set.end();
    };
    for (PeerId p : b)
      if (!in(a, p)) eu.push_back(p);
    for (PeerId p : a) (in(b, p) ? ei : ed).push_back(p);
    EXPECT_EQ(members(*u), eu);
    EXPECT_EQ(members(*i), ei);
    EXPECT_EQ(members(*d), ed);
    if (ei.empty()) {
      EXPECT_EQ(i, &group::empty());
    }

    int result = 0;
    ASSERT_TRUE(group::compare(*ga, *gb, &result).ok());
    auto sa = a, sb = b;
    std::sort(sa.begin(), sa.end());
    std::sort(sb.begin(), sb.end());
    EXPECT_EQ(result, a == b ? MPI_IDENT : sa == sb ? MPI_SIMILAR : MPI_UNEQUAL);

    std::vector<int> ranks(a.size()), out(a.size());
    for (std::size_t r = 0; r < a.size(); ++r) ranks[r] = static_cast<int>(r);
    ASSERT_TRUE(group::translate_ranks(*ga, static_cast<int>(a.size()), ranks.data(), *gb, out.data()).ok());
    for (std::size_t r = 0; r < a.size(); ++r) {
      const auto at = std::find(b.begin(), b.end(), a[r]);
      EXPECT_EQ(out[r], at == b.end() ? MPI_UNDEFINED : static_cast<int>(at - b.begin()));
    }
    for (Group* g : {ga, gb, u, i, d}) release(g);
  }
}

TEST_F(GroupTest, RangesListTheirRanksInOrder) {
  Group* g = Group::strided(0, 1, 20);
  int ranges[3][3] = {{2, 8, 3}, {15, 10, -2}, {19, 19, 5}};
  Group* made = nullptr;
  ASSERT_TRUE(group::range_incl(*g, 3, ranges, &made).ok());
  EXPECT_EQ(members(*made), (std::vector<PeerId>{2, 5, 8, 15, 13, 11, 19}));
  Group* rest = nullptr;
  ASSERT_TRUE(group::range_excl(*g, 3, ranges, &rest).ok());
  EXPECT_EQ(rest->size(), 13);
  for (Group* each : {g, made, rest}) release(each);
}

TEST_F(GroupTest, BadRanksAreNamed) {
  Group* g = Group::strided(0, 1, 4);
  Group* made = nullptr;
  const int outside[] = {0, 4};
  Status st = group::incl(*g, 2, outside, &made);
  EXPECT_EQ(st.mpi_class(), MPI_ERR_RANK);
  EXPECT_STREQ(st.text(), "argument ranks[1] is 4, but the group has ranks 0..3");
  const int twice[] = {2, 2};
  EXPECT_EQ(group::excl(*g, 2, twice, &made).mpi_class(), MPI_ERR_RANK);
  int zero_stride[1][3] = {{0, 3, 0}};
  EXPECT_EQ(group::range_incl(*g, 1, zero_stride, &made).mpi_class(), MPI_ERR_ARG);
  int in[] = {0, MPI_PROC_NULL}, out[2];
  ASSERT_TRUE(group::translate_ranks(*g, 2, in, *g, out).ok());
  EXPECT_EQ(out[1], MPI_PROC_NULL);
  release(g);
}

}  // namespace
}  // namespace ashlar
