#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "components/coll/hier/algorithms.h"
#include "components/coll/hier/nodes.h"
#include "components/coll/p2p/algorithms.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/engine.h"
#include "tests/sim/extent.h"
#include "tests/sim/scenario.h"
#include "tests/sim/world.h"

// Collectives by nodes, on virtual ranks that lie on virtual nodes in any way.
namespace ashlar::sim {
namespace {

using coll::Algorithm;
using coll::Collective;
using NodeMap = std::vector<std::uint32_t>;

NodeMap runs_of(int size, int each) {
  NodeMap nodes;
  for (int r = 0; r < size; ++r) nodes.push_back(static_cast<std::uint32_t>(r / each));
  return nodes;
}
NodeMap dealt_to(int size, int nodes) {
  NodeMap map;
  for (int r = 0; r < size; ++r) map.push_back(static_cast<std::uint32_t>(r % nodes));
  return map;
}

class HierTest : public testing::TestWithParam<const Algorithm*> {
 protected:
  void SetUp() override {
    datatype::register_predefined();
    const coll::AlgorithmList* const lists[] = {&coll::p2p::algorithm_list(), &coll::hier::algorithm_list()};
    ASSERT_TRUE(coll::Engine::open(lists, &engine_).ok());
  }

  World::Options on(const NodeMap& nodes, World::Options options = {}) {
    options.slot_of = [this, nodes](Rank rank, coll::Wire&) {
      return coll::Slot{new coll::hier::Nodes(*engine_, nodes, rank),
                        [](void* data) { delete static_cast<coll::hier::Nodes*>(data); }};
    };
    return options;
  }
  /// Whether it applied.
  bool run(const Scenario& s, const NodeMap& nodes, const World::Options& options,
           const coll::Arguments& arguments = {}) {
    const Algorithm& algorithm = *GetParam();
    Calls calls(s);
    if (algorithm.excluded(coll::shape_of(nodes), calls.of(0)) != nullptr) return false;
    World world(s.size, s.seed, options);
    EXPECT_TRUE(world.run(
        algorithm, [&calls](Rank r) { return calls.of(r); }, arguments))
        << s.describe() << world.stuck();
    for (Rank r = 0; r < s.size && !HasFailure(); ++r) {
      EXPECT_TRUE(world.outcome(r).ok()) << s.describe() << ", rank " << r << ": " << world.outcome(r).text();
      EXPECT_EQ(calls.check(r), "") << s.describe() << ", rank " << r;
    }
    return true;
  }
  Scenario draw(std::mt19937_64& engine, int size) {
    const auto below = [&engine](int n) { return static_cast<int>(engine() % static_cast<std::uint64_t>(n)); };
    Scenario s;
    s.what = GetParam()->collective;
    s.size = size;
    s.root = below(size);
    s.count = 1 + below(size + 20);
    s.items = static_cast<Items>(below(static_cast<int>(Items::kCount_)));
    s.operation = static_cast<Operation>(below(static_cast<int>(Operation::kCount_)));
    s.in_place = s.what != Collective::kBarrier && s.what != Collective::kBcast && below(2) == 0;
    s.seed = engine();
    return s;
  }

 private:
  std::unique_ptr<coll::Engine> engine_;
};

/// Of algorithms that cut long vectors.
class HierPiecesTest : public HierTest {};

TEST_P(HierTest, EverySizeAgainstTheOracle) {
  std::mt19937_64 engine(41);
  int applied = 0;
  for (int size = 2; size <= kEverySize; ++size) {
    const int k = 1 + static_cast<int>(engine() % 7);
    for (const NodeMap& nodes : {runs_of(size, k), dealt_to(size, k)}) {
      if (run(draw(engine, size), nodes, on(nodes))) ++applied;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(applied, 2 * (kEverySize - 1) / 3);
}

TEST_P(HierTest, OneRankBlocksWhileOthersSuspend) {
  std::mt19937_64 engine(7);
  for (int size = 4; size <= 16; ++size) {
    const NodeMap nodes = runs_of(size, 3);
    run(draw(engine, size), nodes, on(nodes, {.blocking_rank = static_cast<int>(engine() % 4)}));
  }
}

// Long vectors that travel in pieces, by one or several leaders of each node.
TEST_P(HierPiecesTest, EverySizeAgainstTheOracle) {
  std::mt19937_64 engine(29);
  for (int size = 4; size <= 24; ++size) {
    for (int leaders = 1; leaders <= 4; ++leaders) {
      const int each = 2 + static_cast<int>(engine() % 4);
      for (const NodeMap& nodes : {runs_of(size, each), dealt_to(size, each)}) {
        Scenario s = draw(engine, size);
        s.count = 1 + static_cast<int>(engine() % 300);
        const coll::Arguments arguments = {.segment = 1 + static_cast<MPI_Count>(engine() % 200), .leaders = leaders};
        const int blocking = static_cast<int>(engine() % 2) == 0 ? static_cast<int>(engine() % 4) : -1;
        run(s, nodes, on(nodes, {.blocking_rank = blocking}), arguments);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(HierTest, AtScale) {
  std::mt19937_64 engine(3);
  // Where every rank has blocks of every rank, a thousand are enough.
  const Collective what = GetParam()->collective;
  const bool wide = what == Collective::kAllgather || what == Collective::kAlltoall ||
                    what == Collective::kReduceScatter || what == Collective::kReduceScatterBlock;
  for (const int size : {at_scale(1000), at_scale(wide ? 1024 : 4096)}) {
    Scenario s = draw(engine, size);
    s.count = 2;
    s.items = Items::kInt;
    const NodeMap nodes = runs_of(size, 48);
    EXPECT_TRUE(run(s, nodes, on(nodes)));
  }
}

// A rank dies somewhere on the way: every other one comes to an end, and none reports success with wrong data.
TEST_P(HierTest, ADeathEndsInAnErrorNotAHang) {
  std::mt19937_64 engine(17);
  int failed = 0;
  for (int round = 0; round < 40; ++round) {
    const int size = 6 + static_cast<int>(engine() % 12);
    Scenario s = draw(engine, size);
    s.operation = Operation::kSum;
    const NodeMap nodes = runs_of(size, 2 + static_cast<int>(engine() % 3));
    Calls calls(s);
    const auto dies = static_cast<Rank>(engine() % static_cast<std::uint64_t>(size));
    World world(size, s.seed, on(nodes, {.dies = dies, .dies_after = engine() % 60}));
    const coll::Arguments arguments = {.segment = round % 2 == 0 ? 0 : 8, .leaders = 1 + round % 3};
    ASSERT_TRUE(world.run(
        *GetParam(), [&calls](Rank r) { return calls.of(r); }, arguments))
        << s.describe() << world.stuck();
    for (Rank r = 0; r < size; ++r) {
      if (r == dies) continue;
      if (world.outcome(r).ok()) {
        EXPECT_EQ(calls.check(r), "") << s.describe() << ", rank " << r << ", death of " << dies;
      } else {
        ++failed;
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(failed, 0);
}

// What the nodes are for: of all messages, those that leave a node.
TEST_P(HierTest, MessagesBetweenNodesInClosedForm) {
  const Collective what = GetParam()->collective;
  for (const int nodes : {2, 3, 5, 8, 16}) {
    for (const int each : {2, 5}) {
      Scenario s;
      s.what = what;
      s.size = nodes * each;
      s.root = s.size / 2;
      s.count = 3;
      s.seed = 12;
      const NodeMap map = runs_of(s.size, each);
      Calls calls(s);
      World world(s.size, 1, on(map, {.record_list = true, .shuffle = false}));
      ASSERT_TRUE(world.run(*GetParam(), [&calls](Rank r) { return calls.of(r); })) << world.stuck();
      std::int64_t leave = 0, bytes = 0;
      for (const Recorded& m : world.recorded()) {
        if (m.from / each == m.to / each) continue;
        ++leave;
        bytes += static_cast<std::int64_t>(m.bytes);
      }
      const std::int64_t block = calls.quantity(), n = nodes;
      int rounds = 0, power = 1;
      while ((1 << rounds) < nodes) ++rounds;
      while (power <= nodes / 2) power *= 2;
      switch (what) {
        case Collective::kBarrier:  // dissemination among the leaders
          EXPECT_EQ(leave, n * rounds);
          break;
        case Collective::kBcast:
        case Collective::kReduce:
          EXPECT_EQ(leave, n - 1);
          EXPECT_EQ(bytes, (n - 1) * block);
          break;
        case Collective::kAllreduce: {  // recursive doubling among the leaders
          int levels = 0;
          while ((1 << levels) < power) ++levels;
          EXPECT_EQ(leave, power * levels + 2 * (n - power));
          EXPECT_EQ(bytes, leave * block);
          break;
        }
        case Collective::kGather:
        case Collective::kScatter:  // the other nodes' blocks once, a message for each node
          EXPECT_EQ(leave, n - 1);
          EXPECT_EQ(bytes, (n - 1) * each * block);
          break;
        case Collective::kAlltoall:  // a message for each pair of nodes
          EXPECT_EQ(leave, n * (n - 1));
          EXPECT_EQ(bytes, n * (n - 1) * each * each * block);
          break;
        case Collective::kReduceScatter:  // recursive halving among the leaders; what is empty does not travel
        case Collective::kReduceScatterBlock: {
          int levels = 0;
          while ((1 << levels) < power) ++levels;
          EXPECT_LE(leave, power * levels + 2 * (n - power));
          if (what == Collective::kReduceScatterBlock) {
            EXPECT_EQ(leave, power * levels + 2 * (n - power));
          }
          // A leader that has no place in the halving gives its vector away and gets its node's items back; of those
          // that have, every step halves what they go on with: power - 1 vectors in all.
          const coll::Call call = calls.of(0);
          const MPI_Count item = call.send.type->size();
          MPI_Count without_place = 0;
          for (int node = 0; node < 2 * (nodes - power); node += 2) {
            for (int i = 0; i < each; ++i) without_place += call.piece(node * each + i) * item;
          }
          EXPECT_EQ(bytes, (n - 1) * block + without_place);
          break;
        }
        case Collective::kScan:
        case Collective::kExscan:  // doubling among the last ranks
          EXPECT_EQ(leave, n * rounds - ((1 << rounds) - 1));
          EXPECT_EQ(bytes, (n * rounds - ((1 << rounds) - 1)) * block);
          break;
        default:  // allgather: Bruck's among the leaders
          EXPECT_EQ(leave, n * rounds);
          EXPECT_EQ(bytes, n * (n - 1) * each * block);
      }
    }
  }
}

// Pieces add no bytes between the nodes, each is a message to every node, and the leaders of a node take them in turn.
TEST_P(HierPiecesTest, MessagesBetweenNodesInClosedForm) {
  const Collective what = GetParam()->collective;
  constexpr int kEach = 4;
  for (const int nodes : {2, 4, 8}) {
    for (const int leaders : {1, 2, 3}) {
      Scenario s;
      s.what = what;
      s.size = nodes * kEach;
      s.root = 5;
      s.count = 120;
      s.seed = 12;
      Calls calls(s);
      constexpr int kPieces = 6;
      World world(s.size, 1, on(runs_of(s.size, kEach), {.record_list = true, .shuffle = false}));
      ASSERT_TRUE(world.run(*GetParam(), [&calls](Rank r) { return calls.of(r); },
                            {.segment = calls.quantity() / kPieces, .leaders = leaders}))
          << world.stuck();
      std::int64_t leave = 0, bytes = 0;
      std::vector<std::int64_t> of_rank(static_cast<std::size_t>(s.size));
      for (const Recorded& m : world.recorded()) {
        if (m.from / kEach == m.to / kEach) continue;
        ++leave;
        bytes += static_cast<std::int64_t>(m.bytes);
        of_rank[static_cast<std::size_t>(m.from)] += static_cast<std::int64_t>(m.bytes);
      }
      std::int64_t vectors = nodes - 1;
      const int used = what == Collective::kReduce ? 1 : leaders;
      if (what == Collective::kAllreduce) {  // recursive doubling among the leaders of a turn
        vectors = 0;
        for (int power = 1; power < nodes; power *= 2) vectors += nodes;
      }
      EXPECT_EQ(leave, kPieces * vectors);
      EXPECT_EQ(bytes, vectors * calls.quantity());
      // The first node, or the root's, sends as much by each of its leaders.
      const auto first = what == Collective::kBcast ? s.root : Rank{0};
      for (int turn = 0; turn < kEach; ++turn) {
        const int node = first / kEach;
        const auto rank = static_cast<std::size_t>(node * kEach + (first % kEach + turn) % kEach);
        EXPECT_EQ(of_rank[rank], turn < used ? of_rank[static_cast<std::size_t>(first)] : 0) << "turn " << turn;
      }
    }
  }
}

std::vector<const Algorithm*> algorithms(bool (*wanted)(Collective)) {
  const coll::AlgorithmList& list = coll::hier::algorithm_list();
  std::vector<const Algorithm*> out;
  for (std::uint32_t i = 0; i < list.count; ++i)
    if (wanted(list.first[i].collective)) out.push_back(&list.first[i]);
  return out;
}
std::string name(const testing::TestParamInfo<const Algorithm*>& tested) {
  return std::string(coll::name_of(tested.param->collective));
}
INSTANTIATE_TEST_SUITE_P(All, HierTest, testing::ValuesIn(algorithms([](Collective) { return true; })), name);
INSTANTIATE_TEST_SUITE_P(All, HierPiecesTest, testing::ValuesIn(algorithms([](Collective what) {
                           return what == Collective::kBcast || what == Collective::kReduce ||
                                  what == Collective::kAllreduce;
                         })),
                         name);

}  // namespace
}  // namespace ashlar::sim
