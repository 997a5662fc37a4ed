#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "components/coll/p2p/algorithms.h"
#include "components/coll/p2p/tree.h"
#include "tests/sim/extent.h"
#include "tests/sim/scenario.h"
#include "tests/sim/world.h"

// What each algorithm costs, in closed form, held against the messages that a recording world counts: rounds (the
// longest chain of messages of which each had to be over before the next could leave), messages, bytes.
namespace ashlar::sim {
namespace {

using coll::Collective;
using coll::p2p::power_of_two_below;

int log2_up(int n) {
  int rounds = 0;
  for (int reach = 1; reach < n; reach *= 2) ++rounds;
  return rounds;
}
int log2_of(int power) { return log2_up(power); }

struct Costs {
  std::int64_t rounds, messages, bytes;
  bool operator==(const Costs&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Costs& c) {
  return out << c.rounds << " rounds, " << c.messages << " messages, " << c.bytes << " bytes";
}

/// n ranks, m bytes of the collective's quantity.
using Formula = std::function<Costs(std::int64_t n, std::int64_t m)>;

struct Row {
  Collective what;
  const char* algorithm;
  Formula formula;
  bool powers_only = false;
  bool even_only = false;
};

std::int64_t lg(std::int64_t n) { return log2_up(static_cast<int>(n)); }
std::int64_t pow2(std::int64_t n) { return power_of_two_below(static_cast<int>(n)); }
/// The longest chain in a binomial tree: the most set bits of a rank. It is lg(n) when n is a power of two; sends of
/// one rank that do not wait for each other count as one round.
std::int64_t deepest(std::int64_t n) {
  std::int64_t most = 0;
  for (std::int64_t r = 0; r < n; ++r) {
    const std::int64_t bits = __builtin_popcountll(static_cast<unsigned long long>(r));
    if (bits > most) most = bits;
  }
  return most;
}
std::int64_t lg2p(std::int64_t n) { return log2_of(static_cast<int>(pow2(n))); }
/// The extra rounds of folding onto a power of two.
std::int64_t fold(std::int64_t n, std::int64_t rounds) { return n > pow2(n) ? rounds : 0; }

/// Bytes that binomial gather and scatter move: each block once per level of its rank, which is the sum of the subtree
/// sizes of all ranks but the root.
std::int64_t tree_blocks(std::int64_t n) {
  std::int64_t blocks = 0;
  for (int r = 1; r < n; ++r) blocks += coll::p2p::subtree_size(r, static_cast<int>(n));
  return blocks;
}
/// Blocks that Bruck's index algorithm moves per rank: the ones in the binary forms of 0 ... n - 1.
std::int64_t ones_below(std::int64_t n) {
  std::int64_t ones = 0;
  for (std::int64_t i = 0; i < n; ++i) ones += __builtin_popcountll(static_cast<unsigned long long>(i));
  return ones;
}

constexpr std::int64_t kSegment = 96;

/// The longest chain in a tree of radix 4: the most digits of a rank that are not zero.
std::int64_t deepest_of_four(std::int64_t n) {
  std::int64_t most = 0;
  for (std::int64_t r = 0; r < n; ++r) {
    std::int64_t digits = 0;
    for (std::int64_t rest = r; rest > 0; rest /= 4) digits += rest % 4 != 0 ? 1 : 0;
    most = std::max(most, digits);
  }
  return most;
}
/// The longest chain is not compared: two trees whose ranks take turns have no simple one.
constexpr std::int64_t kAnyRounds = -1;

Costs once_to_each(std::int64_t n, std::int64_t m) { return Costs{n > 1, n - 1, (n - 1) * m}; }
Costs tree_of_four(std::int64_t n, std::int64_t m) { return Costs{deepest_of_four(n), n - 1, (n - 1) * m}; }

/// Each block once per level of its rank: the sum of the runs below all ranks but the root.
Costs packed_tree_of_four(std::int64_t n, std::int64_t m) {
  std::int64_t blocks = 0;
  for (int r = 1; r < n; ++r) blocks += coll::p2p::Branch::of(r, static_cast<int>(n), 4).ranks;
  return Costs{deepest_of_four(n), n - 1, blocks * m};
}
/// Of m bytes in items of this size, cut in two halves.
std::int64_t segments_of_halves(std::int64_t m, std::int64_t item) {
  const std::int64_t half = (m / item + 1) / 2 * item;
  return (half + kSegment - 1) / kSegment + (m - half + kSegment - 1) / kSegment;
}

Costs prefix_doubling(std::int64_t n, std::int64_t m) {
  const std::int64_t messages = n * lg(n) - ((std::int64_t{1} << lg(n)) - 1);
  return Costs{lg(n), messages, messages * m};
}
Costs prefix_chain(std::int64_t n, std::int64_t m) {
  const std::int64_t segments = (m + kSegment - 1) / kSegment;
  return Costs{n < 2 ? 0 : n - 2 + segments, (n - 1) * segments, (n - 1) * m};
}

std::vector<Row> rows() {
  const auto n1 = [](std::int64_t n) { return n - 1; };
  return {
      {Collective::kBarrier, "dissemination",
       [](auto n, auto) {
         return Costs{lg(n), n * lg(n), 0};
       }},
      {Collective::kBarrier, "recursive_doubling",
       [](auto n, auto) {
         return Costs{lg2p(n) + fold(n, 2), pow2(n) * lg2p(n) + 2 * (n - pow2(n)), 0};
       }},
      {Collective::kBcast, "binomial",
       [](auto n, auto m) {
         return Costs{deepest(n), n - 1, (n - 1) * m};
       }},
      {Collective::kBcast, "chain",
       [](auto n, auto m) {
         const std::int64_t segments = (m + kSegment - 1) / kSegment;
         return Costs{n < 2 ? 0 : n - 2 + segments, (n - 1) * segments, (n - 1) * m};
       }},
      {Collective::kBcast, "scatter_allgather",
       [](auto n, auto m) {
         // Scatter: every part but the root's once per level of its rank. Ring: n - 1 parts to each rank.
         std::int64_t scattered = 0;
         for (int r = 1; r < n; ++r) {
           const coll::p2p::Split parts{m, static_cast<int>(n)};
           scattered += parts.size(r, r + coll::p2p::subtree_size(r, static_cast<int>(n)));
         }
         return Costs{n < 2 ? 0 : deepest(n) + n - 1, (n - 1) + n * (n - 1), scattered + (n - 1) * m};
       }},
      {Collective::kReduce, "binomial",
       [](auto n, auto m) {
         return Costs{deepest(n), n - 1, (n - 1) * m};
       }},
      {Collective::kReduce, "linear",
       [](auto n, auto m) {
         return Costs{n > 1, n - 1, (n - 1) * m};
       }},
      {Collective::kReduce, "rabenseifner",
       [](auto n, auto m) {
         const std::int64_t p = pow2(n), e = n - p;
         // Halving: p - 1 vectors in all; gather: each part once per bit of its place, half of them per round.
         return Costs{2 * lg2p(n) + fold(n, 1), p * lg2p(n) + p - 1 + e, (p - 1 + e) * m + m * lg2p(n) / 2};
       }},
      {Collective::kAllreduce, "recursive_doubling",
       [](auto n, auto m) {
         const std::int64_t p = pow2(n), e = n - p;
         return Costs{lg2p(n) + fold(n, 2), p * lg2p(n) + 2 * e, (p * lg2p(n) + 2 * e) * m};
       }},
      {Collective::kAllreduce, "rabenseifner",
       [](auto n, auto m) {
         const std::int64_t p = pow2(n), e = n - p;
         return Costs{2 * lg2p(n) + fold(n, 2), 2 * p * lg2p(n) + 2 * e, (2 * (p - 1) + 2 * e) * m};
       }},
      {Collective::kAllreduce, "ring",
       [](auto n, auto m) {
         return Costs{2 * (n - 1), 2 * n * (n - 1), 2 * (n - 1) * m};
       }},
      {Collective::kGather, "binomial",
       [](auto n, auto m) {
         return Costs{deepest(n), n - 1, tree_blocks(n) * m};
       }},
      {Collective::kGather, "linear",
       [](auto n, auto m) {
         return Costs{n > 1, n - 1, (n - 1) * m};
       }},
      {Collective::kScatter, "binomial",
       [](auto n, auto m) {
         return Costs{deepest(n), n - 1, tree_blocks(n) * m};
       }},
      {Collective::kScatter, "linear",
       [](auto n, auto m) {
         return Costs{n > 1, n - 1, (n - 1) * m};
       }},
      {Collective::kAllgather, "bruck",
       [](auto n, auto m) {
         return Costs{lg(n), n * lg(n), n * (n - 1) * m};
       }},
      {Collective::kAllgather, "recursive_doubling",
       [](auto n, auto m) {
         return Costs{lg(n), n * lg(n), n * (n - 1) * m};
       },
       true},
      {Collective::kAllgather, "ring",
       [n1](auto n, auto m) {
         return Costs{n1(n), n * n1(n), n * n1(n) * m};
       }},
      {Collective::kAlltoall, "bruck",
       [](auto n, auto m) {
         return Costs{lg(n), n * lg(n), n * ones_below(n) * m};
       }},
      {Collective::kAlltoall, "pairwise",
       [n1](auto n, auto m) {
         return Costs{n1(n), n * n1(n), n * n1(n) * m};
       }},
      {Collective::kAlltoall, "linear",
       [](auto n, auto m) {
         return Costs{n > 1, n * (n - 1), n * (n - 1) * m};
       }},
      {Collective::kReduceScatterBlock, "recursive_halving",
       [](auto n, auto m) {
         const std::int64_t p = pow2(n), e = n - p;
         // Every place gives away what its half does not keep; a place that stands for two ranks holds two pieces.
         std::int64_t bytes = e * m + e * (m / n);
         for (std::int64_t width = p / 2; width > 0; width /= 2) {
           for (std::int64_t place = 0; place < p; ++place) {
             const std::int64_t give = (place ^ width) & ~(width - 1);
             const std::int64_t pairs = std::clamp(e - give, std::int64_t{0}, width);
             bytes += (width + pairs) * (m / n);
           }
         }
         return Costs{lg2p(n) + fold(n, 2), p * lg2p(n) + 2 * e, bytes};
       }},
      {Collective::kReduceScatterBlock, "pairwise",
       [n1](auto n, auto m) {
         return Costs{n1(n), n * n1(n), n1(n) * m};
       }},
      {Collective::kReduceScatterBlock, "ring",
       [n1](auto n, auto m) {
         return Costs{n1(n), n * n1(n), n1(n) * m};
       }},
      {Collective::kReduceScatterBlock, "linear",
       [n1](auto n, auto m) {
         return Costs{n > 1, n * n1(n), n1(n) * m};
       }},
      {Collective::kBarrier, "linear",
       [](auto n, auto) {
         return Costs{n > 1 ? 2 : 0, 2 * (n - 1), 0};
       }},
      {Collective::kBcast, "linear", once_to_each},
      {Collective::kBcast, "knomial", tree_of_four},
      {Collective::kReduce, "knomial", tree_of_four},
      {Collective::kBcast, "binary",
       [](auto n, auto m) {
         const std::int64_t segments = (m + kSegment - 1) / kSegment;
         return Costs{n < 2 ? 0 : lg2p(n) - 1 + segments, (n - 1) * segments, (n - 1) * m};
       }},
      {Collective::kBcast, "double_tree",
       [](auto n, auto m) {
         return Costs{kAnyRounds, (n - 1) * segments_of_halves(m, 1), (n - 1) * m};
       }},
      {Collective::kReduce, "binary",
       [](auto n, auto m) {
         const std::int64_t segments = (m + kSegment - 1) / kSegment;
         return Costs{n < 2 ? 0 : lg2p(n) - 1 + segments, (n - 1) * segments, (n - 1) * m};
       }},
      {Collective::kReduce, "double_tree",
       [](auto n, auto m) {
         return Costs{kAnyRounds, (n - 1) * segments_of_halves(m, 4), (n - 1) * m};
       }},
      {Collective::kAllreduce, "double_tree",
       [](auto n, auto m) {
         return Costs{kAnyRounds, (n - 1) * (segments_of_halves(m, 4) + segments_of_halves(m, 1)), 2 * (n - 1) * m};
       }},
      {Collective::kGather, "knomial", packed_tree_of_four},
      {Collective::kScatter, "knomial", packed_tree_of_four},
      {Collective::kAllgather, "sparbit",
       [](auto n, auto m) {
         return Costs{lg(n), n * (n - 1), n * (n - 1) * m};
       }},
      {Collective::kAllreduce, "linear",
       [](auto n, auto m) {
         return Costs{n > 1 ? 2 : 0, 2 * (n - 1), 2 * (n - 1) * m};
       }},
      {Collective::kAllreduce, "ordered",
       [](auto n, auto m) {
         return Costs{n > 1 ? 2 : 0, 2 * n * (n - 1), 2 * (n - 1) * m};
       }},
      {Collective::kAllgather, "linear",
       [](auto n, auto m) {
         return Costs{n > 1, n * (n - 1), n * (n - 1) * m};
       }},
      {Collective::kAllgather, "neighbour_exchange",
       [](auto n, auto m) {
         return Costs{n / 2, n * n / 2, n * (n - 1) * m};
       },
       false, true},
      {Collective::kScan, "linear",
       [n1](auto n, auto m) {
         return Costs{n1(n), n1(n), n1(n) * m};
       }},
      {Collective::kExscan, "linear",
       [n1](auto n, auto m) {
         return Costs{n1(n), n1(n), n1(n) * m};
       }},
      {Collective::kScan, "doubling", prefix_doubling},
      {Collective::kExscan, "doubling", prefix_doubling},
      {Collective::kScan, "chain", prefix_chain},
      {Collective::kExscan, "chain", prefix_chain},
  };
}

const coll::Algorithm& find(const Row& row) {
  const coll::AlgorithmList& list = coll::p2p::algorithm_list();
  for (std::uint32_t i = 0; i < list.count; ++i) {
    if (list.first[i].collective == row.what && std::string(row.algorithm) == list.first[i].name) return list.first[i];
  }
  ADD_FAILURE() << "no algorithm " << row.algorithm;
  return list.first[0];
}

class CostsTest : public testing::TestWithParam<Row> {};

void expect_costs(const Row& row, int size, int items) {
  const coll::Algorithm& algorithm = find(row);
  Scenario s;
  s.what = row.what;
  s.size = size;
  s.root = size / 2;
  s.count = items;
  s.seed = 4;
  Calls calls(s);
  const coll::Call sample = calls.of(0);
  if (algorithm.excluded != nullptr && algorithm.excluded(calls.shape(), sample) != nullptr) {
    FAIL() << row.algorithm << " does not apply to " << s.describe();
  }
  World world(size, s.seed, World::Options{.shuffle = false});
  ASSERT_TRUE(world.run(algorithm, [&calls](Rank r) { return calls.of(r); }, {.segment = kSegment, .window = size}))
      << world.stuck();
  const Costs expected = row.formula(size, calls.quantity());
  const Costs measured{expected.rounds == kAnyRounds ? kAnyRounds : world.rounds(),
                       static_cast<std::int64_t>(world.messages()), static_cast<std::int64_t>(world.bytes())};
  EXPECT_EQ(measured, expected) << s.describe();
}

TEST_P(CostsTest, RoundsMessagesAndBytes) {
  const Row& row = GetParam();
  for (int size = 1; size <= kEverySize; ++size) {
    if (row.powers_only && power_of_two_below(size) != size) continue;
    if (row.even_only && size % 2 != 0) continue;
    // A multiple of every power of two in question, and enough for a part per rank.
    expect_costs(row, size, row.what == Collective::kReduce || row.what == Collective::kAllreduce ? 64 : 40);
  }
}

TEST_P(CostsTest, AtScale) {
  const Row& row = GetParam();
  const bool many = row.formula(1024, 1).messages > 200'000 && row.what != Collective::kReduceScatterBlock;
  if (many) {
    expect_costs(row, at_scale(128), 256);
    return;
  }
  const bool vectors = row.what == Collective::kReduce || row.what == Collective::kAllreduce;
  const bool pieces = row.what == Collective::kReduceScatterBlock;
  if (pieces) {  // the vector grows with the ranks
    expect_costs(row, at_scale(512), 2);
    expect_costs(row, at_scale(700), 1);
    return;
  }
  const bool heavy = row.what == Collective::kAlltoall || row.what == Collective::kAllgather;
  expect_costs(row, at_scale(1024), vectors ? 1024 : 40);
  if (!row.powers_only) expect_costs(row, at_scale(1500), vectors ? 1024 : heavy ? 2 : 40);
  if (!heavy) expect_costs(row, at_scale(4096), vectors ? 4096 : 3);
}

INSTANTIATE_TEST_SUITE_P(All, CostsTest, testing::ValuesIn(rows()), [](const testing::TestParamInfo<Row>& tested) {
  return std::string(coll::name_of(tested.param.what)) + "_" + tested.param.algorithm;
});

// The dependencies themselves, not only their number: which rank sends to which, in which round.
TEST(RecordingTest, BinomialBroadcastOfEight) {
  const coll::Algorithm& algorithm = find({Collective::kBcast, "binomial", {}});
  Scenario s;
  s.what = Collective::kBcast;
  s.size = 8;
  s.count = 5;
  Calls calls(s);
  World world(8, 1, World::Options{.record_list = true, .shuffle = false});
  ASSERT_TRUE(world.run(algorithm, [&calls](Rank r) { return calls.of(r); }));
  std::vector<std::vector<int>> sent;
  for (const Recorded& m : world.recorded()) sent.push_back({m.round, m.from, m.to});
  std::sort(sent.begin(), sent.end());
  const std::vector<std::vector<int>> expected{{1, 0, 1}, {1, 0, 2}, {1, 0, 4}, {2, 2, 3},
                                               {2, 4, 5}, {2, 4, 6}, {3, 6, 7}};
  EXPECT_EQ(sent, expected);
}

}  // namespace
}  // namespace ashlar::sim
