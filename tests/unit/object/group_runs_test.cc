// Groups that are kept as runs: the same answers as plain lists give, and no memory for what runs can say.
#include <gtest/gtest.h>
#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "framework/object/group_algebra.h"
#include "framework/object/group_api.h"
#include "framework/object/predefined.h"

namespace ashlar {
namespace {

using List = std::vector<PeerId>;

class GroupRunsTest : public testing::Test {
 protected:
  void SetUp() override { register_predefined_objects(); }

  static List members(const Group& g) {
    List out;
    for (Rank r = 0; r < g.size(); ++r) out.push_back(g[r]);
    return out;
  }
  /// Some arithmetic sequences and single processes, none twice.
  List random_list(std::int64_t universe) {
    List list;
    std::vector<bool> taken(static_cast<std::size_t>(universe), false);
    for (auto pieces = random() % 6; pieces > 0; --pieces) {
      std::int64_t at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(universe));
      const std::int64_t stride = static_cast<std::int64_t>(random() % 9) - 4;
      for (auto count = random() % 30; count > 0 && at >= 0 && at < universe; --count, at += stride == 0 ? 1 : stride) {
        if (taken[static_cast<std::size_t>(at)]) break;
        taken[static_cast<std::size_t>(at)] = true;
        list.push_back(static_cast<PeerId>(at));
      }
    }
    return list;
  }
  std::mt19937 random{31};
};

bool in(const List& list, PeerId p) { return std::find(list.begin(), list.end(), p) != list.end(); }

TEST_F(GroupRunsTest, AlgebraOnListsOfRuns) {
  for (int round = 0; round < 2000; ++round) {
    const List a = random_list(120), b = random_list(120);
    Group *ga = Group::of(a), *gb = Group::of(b), *results[3] = {};
    ASSERT_EQ(members(*ga), a);
    ASSERT_TRUE(group::union_(*ga, *gb, &results[0]).ok());
    ASSERT_TRUE(group::intersection(*ga, *gb, &results[1]).ok());
    ASSERT_TRUE(group::difference(*ga, *gb, &results[2]).ok());
    List expected[3] = {a, {}, {}};
    for (const PeerId p : b)
      if (!in(a, p)) expected[0].push_back(p);
    for (const PeerId p : a) expected[in(b, p) ? 1 : 2].push_back(p);
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(members(*results[i]), expected[i]) << "operation " << i << " of round " << round;
      // The form follows from the members: the same as of a group made one by one.
      Group* const again = Group::of(expected[i]);
      EXPECT_TRUE(again->same_members_in_order(*results[i]));
      release(again);
    }
    EXPECT_EQ(group::count_common(*ga, *gb), static_cast<std::int64_t>(expected[1].size()));
    int relation = 0;
    ASSERT_TRUE(group::compare(*ga, *gb, &relation).ok());
    List sa = a, sb = b;
    std::sort(sa.begin(), sa.end());
    std::sort(sb.begin(), sb.end());
    EXPECT_EQ(relation, a == b ? MPI_IDENT : sa == sb ? MPI_SIMILAR : MPI_UNEQUAL);
    for (std::size_t r = 0; r < a.size(); ++r) EXPECT_EQ(ga->rank_of(a[r]), static_cast<Rank>(r));
    EXPECT_EQ(ga->rank_of(500), -1);
    for (Group* g : {ga, gb, results[0], results[1], results[2]}) release(g);
  }
}

TEST_F(GroupRunsTest, RangesOfRanksOnListsOfRuns) {
  for (int round = 0; round < 1000; ++round) {
    const List list = random_list(100);
    const int n = static_cast<int>(list.size());
    Group* const g = Group::of(list);
    int ranges[4][3], count = static_cast<int>(random() % 4);
    List expected;
    std::vector<bool> listed(list.size(), false);
    bool twice = false;
    if (n == 0) count = 0;
    for (int i = 0; i < count; ++i) {
      int first = static_cast<int>(random() % static_cast<unsigned>(n)),
          last = static_cast<int>(random() % static_cast<unsigned>(n));
      const int stride = (first <= last ? 1 : -1) * static_cast<int>(1 + random() % 3);
      ranges[i][0] = first, ranges[i][1] = last, ranges[i][2] = stride;
      for (int r = first; stride > 0 ? r <= last : r >= last; r += stride) {
        twice = twice || listed[static_cast<std::size_t>(r)];
        listed[static_cast<std::size_t>(r)] = true;
        expected.push_back(list[static_cast<std::size_t>(r)]);
      }
    }
    Group *included = nullptr, *excluded = nullptr;
    const Status incl = group::range_incl(*g, count, ranges, &included);
    const Status excl = group::range_excl(*g, count, ranges, &excluded);
    EXPECT_EQ(incl.mpi_class(), twice ? MPI_ERR_RANK : MPI_SUCCESS);
    EXPECT_EQ(excl.mpi_class(), twice ? MPI_ERR_RANK : MPI_SUCCESS);
    if (!twice) {
      EXPECT_EQ(members(*included), expected);
      List rest;
      for (std::size_t r = 0; r < list.size(); ++r)
        if (!listed[r]) rest.push_back(list[r]);
      EXPECT_EQ(members(*excluded), rest);
      // incl and excl of the ranks one by one say the same.
      std::vector<int> ranks;
      for (const PeerId p : expected) ranks.push_back(g->rank_of(p));
      Group* same[2] = {};
      ASSERT_TRUE(group::incl(*g, static_cast<int>(ranks.size()), ranks.data(), &same[0]).ok());
      ASSERT_TRUE(group::excl(*g, static_cast<int>(ranks.size()), ranks.data(), &same[1]).ok());
      EXPECT_TRUE(same[0]->same_members_in_order(*included));
      EXPECT_TRUE(same[1]->same_members_in_order(*excluded));
      for (Group* each : {included, excluded, same[0], same[1]}) release(each);
    }
    release(g);
  }
}

std::size_t bytes_in_use() { return mallinfo2().uordblks; }

TEST_F(GroupRunsTest, AMillionRanksOfFewRangesTakeKilobytes) {
  constexpr int kMillion = 1'000'000;
  Group* const world = Group::strided(0, 1, 4 * kMillion);
  int first[3][3] = {{0, 499'999, 1}, {1'000'000, 1'999'998, 2}, {3'500'000, 3'000'001, -1}};
  int second[2][3] = {{250'000, 1'249'999, 1}, {3'999'999, 3'000'000, -3}};
  Group *a = nullptr, *b = nullptr, *made[5] = {};
  ASSERT_TRUE(group::range_incl(*world, 3, first, &a).ok());
  ASSERT_TRUE(group::range_incl(*world, 2, second, &b).ok());
  EXPECT_EQ(a->size(), 500'000 + 500'000 + 500'000);
  ASSERT_TRUE(group::union_(*a, *b, &made[0]).ok());
  ASSERT_TRUE(group::intersection(*a, *b, &made[1]).ok());
  ASSERT_TRUE(group::difference(*b, *a, &made[2]).ok());
  ASSERT_TRUE(group::range_excl(*world, 2, second, &made[3]).ok());
  ASSERT_TRUE(group::intersection(*b, *world, &made[4]).ok());
  EXPECT_EQ(made[0]->size() + made[1]->size(), a->size() + b->size());
  EXPECT_EQ(made[2]->size(), b->size() - made[1]->size());
  EXPECT_EQ(made[3]->size(), 4 * kMillion - b->size());
  // What is left of a row without every third cannot be said in runs of one stride; everything else can.
  for (const Group* compact : {a, b, made[0], made[1], made[2], made[4]})
    EXPECT_LE(compact->runs().size(), 8u) << compact->size();
  EXPECT_FALSE(a->runs().empty());
  int relation = 0;
  ASSERT_TRUE(group::compare(*made[4], *b, &relation).ok());
  EXPECT_EQ(relation, MPI_IDENT);
  for (Group* g : {world, a, b, made[0], made[1], made[2], made[3], made[4]}) release(g);
}

TEST_F(GroupRunsTest, UnionsOfBlocksStayCompact) {
  Group* all = Group::strided(0, 1, 0);
  const std::size_t before = bytes_in_use();
  for (int block = 0; block < 20; ++block) {
    Group *part = Group::strided(static_cast<PeerId>(block * 100'000), block % 2 ? 2 : 1, 50'000), *sum = nullptr;
    ASSERT_TRUE(group::union_(*all, *part, &sum).ok());
    release(all);
    release(part);
    all = sum;
  }
  EXPECT_EQ(all->size(), 1'000'000);
  EXPECT_LE(all->runs().size(), 40u);
  EXPECT_LT(bytes_in_use() - before, 8192u);
  EXPECT_EQ((*all)[999'999], 19u * 100'000u + 2u * 49'999u);
  EXPECT_EQ(all->rank_of(19u * 100'000u + 2u * 49'999u), 999'999);
  release(all);
}

}  // namespace
}  // namespace ashlar
