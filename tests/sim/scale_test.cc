#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "components/coll/hier/algorithms.h"
#include "components/coll/hier/nodes.h"
#include "components/coll/p2p/algorithms.h"
#include "framework/coll/engine.h"
#include "framework/progress/peer.h"
#include "tests/sim/extent.h"
#include "tests/sim/scenario.h"
#include "tests/sim/world.h"

// What a job of thousands costs its processes beside time: the connections that collectives open between nodes, the
// records of other processes that have to be fetched for that, and the memory for processes that one never talks to and
// for those that one does. In closed form.

namespace ashlar::sim {
namespace {

using coll::Algorithm;
using coll::Collective;

constexpr int kNodes = 64;
constexpr int kEach = 64;

/// What leaves the nodes in one collective call, seen as ways between processes.
struct Ways {
  std::size_t connections = 0;     // pairs of processes of two nodes: a connection serves both directions
  std::size_t records = 0;         // fetched: one by each process for each other one that it sends to first
  std::size_t most_of_leader = 0;  // connections of one process
  std::size_t processes = 0;       // that have any
};

class ScaleTest : public testing::TestWithParam<const Algorithm*> {
 protected:
  void SetUp() override {
    datatype::register_predefined();
    const coll::AlgorithmList* const lists[] = {&coll::p2p::algorithm_list(), &coll::hier::algorithm_list()};
    ASSERT_TRUE(coll::Engine::open(lists, &engine_).ok());
  }

  Ways run(int nodes, int each) {
    std::vector<std::uint32_t> map;
    for (int r = 0; r < nodes * each; ++r) map.push_back(static_cast<std::uint32_t>(r / each));
    Scenario s;
    s.what = GetParam()->collective;
    s.size = nodes * each;
    s.count = 1;
    s.seed = 5;
    Calls calls(s);
    World::Options options{.record_list = true, .shuffle = false};
    options.slot_of = [this, &map](Rank rank, coll::Wire&) {
      return coll::Slot{new coll::hier::Nodes(*engine_, map, rank),
                        [](void* data) { delete static_cast<coll::hier::Nodes*>(data); }};
    };
    World world(s.size, 1, options);
    EXPECT_TRUE(world.run(*GetParam(), [&calls](Rank r) { return calls.of(r); })) << world.stuck();
    std::set<std::pair<Rank, Rank>> pairs, directed;
    std::map<Rank, std::set<Rank>> of_rank;
    for (const Recorded& m : world.recorded()) {
      if (m.from / each == m.to / each) continue;
      directed.emplace(m.from, m.to);
      pairs.emplace(std::min(m.from, m.to), std::max(m.from, m.to));
      of_rank[m.from].insert(m.to);
      of_rank[m.to].insert(m.from);
    }
    Ways ways{.connections = pairs.size(), .records = directed.size(), .processes = of_rank.size()};
    for (const auto& [rank, others] : of_rank) ways.most_of_leader = std::max(ways.most_of_leader, others.size());
    return ways;
  }

 private:
  std::unique_ptr<coll::Engine> engine_;
};

std::size_t log2_up(std::size_t n) {
  std::size_t rounds = 0;
  while ((std::size_t{1} << rounds) < n) ++rounds;
  return rounds;
}
std::size_t power_below(std::size_t n) {
  std::size_t power = 1;
  while (power <= n / 2) power *= 2;
  return power;
}

/// Ways to ranks at distances 1, 2, 4 ... on a ring of n: `there` of those that one sends to, `both` with those that
/// one receives from.
void ring(std::size_t n, std::size_t* there, std::size_t* both) {
  std::set<std::size_t> to, any;
  for (std::size_t d = 1; d < n; d *= 2) {
    to.insert(d);
    any.insert(d);
    any.insert(n - d);
  }
  *there = to.size();
  *both = any.size();
}

TEST_P(ScaleTest, ConnectionsBetweenNodesInClosedForm) {
  const Collective what = GetParam()->collective;
  const bool wide = what == Collective::kAllgather || what == Collective::kAlltoall ||
                    what == Collective::kReduceScatter || what == Collective::kReduceScatterBlock;
  std::vector<std::pair<int, int>> shapes = {{2, 3}, {5, 2}, {6, 4}, {16, 2}, {33, 2}};
  // 4,096 ranks; where every one has blocks of every other, a quarter of them on as many nodes.
  shapes.emplace_back(kNodes, at_scale(kEach) / (wide ? 4 : 1));
  for (const auto& [nodes, each] : shapes) {
    SCOPED_TRACE(std::to_string(nodes) + " nodes of " + std::to_string(each));
    const Ways ways = run(nodes, each);
    const auto n = static_cast<std::size_t>(nodes);
    const std::size_t power = power_below(n), levels = log2_up(power);
    std::size_t there = 0, both = 0;
    ring(n, &there, &both);
    // Whatever the collective: one process of each node talks to others, whoever else there is.
    EXPECT_EQ(ways.processes, n);
    switch (what) {
      case Collective::kBarrier:    // dissemination among the leaders
      case Collective::kAllgather:  // Bruck's
        EXPECT_EQ(ways.records, n * there);
        EXPECT_EQ(ways.connections, n * both / 2);
        EXPECT_EQ(ways.most_of_leader, both);
        break;
      case Collective::kBcast:
      case Collective::kReduce:
      case Collective::kGather:
      case Collective::kScatter:  // a tree, or the root with every leader
        EXPECT_EQ(ways.records, n - 1);
        EXPECT_EQ(ways.connections, n - 1);
        break;
      case Collective::kAllreduce:  // recursive doubling; leaders beyond a power of two have one partner
        EXPECT_EQ(ways.records, power * levels + 2 * (n - power));
        EXPECT_EQ(ways.connections, power * levels / 2 + (n - power));
        EXPECT_EQ(ways.most_of_leader, levels + (n > power ? 1 : 0));
        break;
      case Collective::kAlltoall:  // every pair of nodes
        EXPECT_EQ(ways.records, n * (n - 1));
        EXPECT_EQ(ways.connections, n * (n - 1) / 2);
        EXPECT_EQ(ways.most_of_leader, n - 1);
        break;
      case Collective::kReduceScatter:  // as the next; what is empty does not travel
        EXPECT_LE(ways.connections, power * levels / 2 + (n - power));
        EXPECT_LE(ways.records, power * levels + 2 * (n - power));
        break;
      case Collective::kReduceScatterBlock:  // recursive halving
        EXPECT_EQ(ways.connections, power * levels / 2 + (n - power));
        EXPECT_EQ(ways.records, power * levels + 2 * (n - power));
        break;
      default:  // scan, exscan: doubling
        EXPECT_EQ(ways.records, n * log2_up(n) - ((std::size_t{1} << log2_up(n)) - 1));
        EXPECT_EQ(ways.connections, ways.records);
    }
    // No collective but an exchange of all with all gives a process more than two ways for each doubling of the nodes.
    if (what != Collective::kAlltoall && what != Collective::kGather && what != Collective::kScatter) {
      EXPECT_LE(ways.most_of_leader, 2 * log2_up(n));
    }
  }
}

std::vector<const Algorithm*> all_algorithms() {
  const coll::AlgorithmList& list = coll::hier::algorithm_list();
  std::vector<const Algorithm*> out;
  for (std::uint32_t i = 0; i < list.count; ++i) out.push_back(&list.first[i]);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, ScaleTest, testing::ValuesIn(all_algorithms()),
                         [](const testing::TestParamInfo<const Algorithm*>& tested) {
                           return std::string(coll::name_of(tested.param->collective));
                         });

/// Bytes that this program has of the C library.
std::int64_t in_use() {
  const struct mallinfo2 now = mallinfo2();
  return static_cast<std::int64_t>(now.uordblks + now.hblkhd);
}
/// Blocks that were freed, and that it still counts: up to seven of each of the few sizes here.
constexpr std::int64_t kKeptByLibrary = 4096;
/// What the C library takes for a block of so many bytes: its own word, and sixteens.
std::int64_t chunk(std::size_t bytes) {
  return bytes == 0 ? 0 : static_cast<std::int64_t>(std::max<std::size_t>(32, (bytes + 8 + 15) / 16 * 16));
}

class MemoryTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(ASHLAR_ASAN) || defined(ASHLAR_TSAN)
    GTEST_SKIP() << "a sanitizer has an allocator of its own";
#endif
  }
  /// Bytes that a process has for a job of `ranks`, of which it has talked to `known`.
  static std::int64_t bytes_of_peers(std::uint32_t ranks, std::uint32_t known, unsigned lanes) {
    const std::int64_t before = in_use();
    PeerTable peers({}, ranks, lanes);
    for (std::uint32_t i = 0; i < known; ++i) EXPECT_NE(peers.get(i * (ranks / known)), nullptr);
    return in_use() - before;
  }
};

TEST_F(MemoryTest, OfProcessesThatOneNeverTalksTo) {
  for (const std::uint32_t ranks : {4096u, 65536u, 1'000'000u}) {
    for (const unsigned lanes : {1u, 4u, 16u}) {
      const std::int64_t bytes = bytes_of_peers(ranks, 0, lanes);
      EXPECT_GE(bytes, 8 * std::int64_t{ranks});
      EXPECT_LE(bytes, 8 * std::int64_t{ranks} + 8192) << ranks << " ranks, " << lanes << " lanes";
    }
  }
}

TEST_F(MemoryTest, OfProcessesThatOneTalksTo) {
  constexpr std::size_t kLink = sizeof(Link), kPeer = sizeof(Peer);
  // What a peer costs must not grow unnoticed.
  EXPECT_LE(kPeer, 208u);
  EXPECT_LE(kLink, 168u);
  for (const std::uint32_t known : {1u, 23u, 64u, 4096u}) {
    for (const unsigned lanes : {1u, 2u, 16u}) {
      const std::int64_t wanted = chunk(8 * 4096) + std::int64_t{known} * (chunk(kPeer) + chunk((lanes - 1) * kLink));
      EXPECT_LE(std::abs(bytes_of_peers(4096, known, lanes) - wanted), kKeptByLibrary)
          << known << " peers, " << lanes << " lanes";
    }
  }
}

TEST_F(MemoryTest, OfGroupsThatAreRanges) {
  // Half a million ranks: the first ones, and every second.
  for (const std::int64_t stride : {1, 2}) {
    const std::int64_t before = in_use();
    Group* const group = Group::strided(0, stride, 500'000);
    ASSERT_NE(group, nullptr);
    EXPECT_LE(in_use() - before, 65536) << "a group that is a range is no table; groups come from slabs";
    EXPECT_EQ((*group)[499'999], static_cast<PeerId>(499'999 * stride));
    destroy(group);
  }
}

}  // namespace
}  // namespace ashlar::sim
