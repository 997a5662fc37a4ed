#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "components/coll/p2p/algorithms.h"
#include "tests/sim/extent.h"
#include "tests/sim/scenario.h"
#include "tests/sim/world.h"

namespace ashlar::sim {
namespace {

using coll::Algorithm;
using coll::Collective;

std::vector<const Algorithm*> all_algorithms() {
  const coll::AlgorithmList& list = coll::p2p::algorithm_list();
  std::vector<const Algorithm*> out;
  for (std::uint32_t i = 0; i < list.count; ++i) out.push_back(&list.first[i]);
  return out;
}
std::string name_of_test(const testing::TestParamInfo<const Algorithm*>& info) {
  return std::string(coll::name_of(info.param->collective)) + "_" + info.param->name;
}

using coll::reduces;
bool has_in_place(Collective what) {
  return what != Collective::kBarrier && what != Collective::kBcast && !coll::among_neighbours(what);
}
bool has_pieces(Collective what) {
  return what == Collective::kReduceScatter || what == Collective::kReduceScatterBlock;
}

class AlgorithmTest : public testing::TestWithParam<const Algorithm*> {
 protected:
  /// Whether it applied.
  bool run(const Scenario& scenario, const World::Options& options, const coll::Arguments& arguments = {}) {
    const Algorithm& algorithm = *GetParam();
    Calls calls(scenario);
    const coll::Call sample = calls.of(0);
    EXPECT_NE(calls.quantity(), -1) << "ranks would choose differently: " << scenario.describe();
    const bool excluded = algorithm.excluded != nullptr && algorithm.excluded(calls.shape(), sample) != nullptr;
    if (excluded) return false;
    World world(scenario.size, scenario.seed, options);
    const bool finished = world.run(
        algorithm, [&calls](Rank r) { return calls.of(r); }, arguments);
    EXPECT_TRUE(finished) << scenario.describe() << ": " << world.stuck();
    if (!finished) return true;
    for (Rank r = 0; r < scenario.size; ++r) {
      EXPECT_TRUE(world.outcome(r).ok()) << scenario.describe() << ", rank " << r << ": " << world.outcome(r).text();
      EXPECT_EQ(calls.check(r), "") << scenario.describe() << ", rank " << r;
    }
    return true;
  }
  Scenario draw(std::mt19937_64& engine, int size) {
    const auto below = [&engine](int n) { return static_cast<int>(engine() % static_cast<std::uint64_t>(n)); };
    Scenario s;
    s.what = GetParam()->collective;
    s.size = size;
    s.root = below(size);
    s.count = below(4) == 0 ? 0 : below(3) == 0 ? 1 + below(3) : below(2 * size + 40);
    s.items = static_cast<Items>(below(static_cast<int>(Items::kCount_)));
    s.operation = static_cast<Operation>(below(static_cast<int>(Operation::kCount_)));
    s.in_place = has_in_place(s.what) && below(2) == 0;
    s.seed = engine();
    return s;
  }
};

TEST_P(AlgorithmTest, EverySizeAgainstTheOracle) {
  std::mt19937_64 engine(20261121);
  int applied = 0;
  for (int size = 1; size <= kEverySize; ++size) {
    for (int round = 0; round < (size <= 33 ? 6 : 2); ++round) {
      coll::Arguments arguments;
      if (round % 2 == 1) {
        arguments = {static_cast<MPI_Count>(1 + engine() % 100), static_cast<int>(1 + engine() % 4),
                     static_cast<int>(2 + engine() % 7)};
      }
      if (run(draw(engine, size), World::Options{}, arguments)) ++applied;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(applied, 20);
}

TEST_P(AlgorithmTest, OneRankBlocksWhileOthersSuspend) {
  std::mt19937_64 engine(77);
  for (int size = 1; size <= 20; ++size) {
    Scenario s = draw(engine, size);
    if (s.count == 0) s.count = 3 * size;
    run(s, World::Options{.blocking_rank = static_cast<int>(engine() % static_cast<std::uint64_t>(size))});
    if (HasFailure()) return;
  }
}

TEST_P(AlgorithmTest, SmallBlocksOfMemoryOverflowIntoChunks) {
  std::mt19937_64 engine(5);
  for (int size = 2; size <= 9; ++size) run(draw(engine, size), World::Options{.block_bytes = 64});
}

// A rank dies somewhere on the way: every other one comes to an end, and none reports success with wrong data.
TEST_P(AlgorithmTest, ADeathEndsInAnErrorNotAHang) {
  const Algorithm& algorithm = *GetParam();
  std::mt19937_64 engine(99);
  int failed = 0;
  for (int round = 0; round < 60; ++round) {
    const int size = 2 + static_cast<int>(engine() % 15);
    Scenario s = draw(engine, size);
    if (s.count == 0) s.count = 2 * size;
    if (s.operation == Operation::kIntervals) s.operation = Operation::kSum;
    Calls calls(s);
    if (algorithm.excluded != nullptr && algorithm.excluded(calls.shape(), calls.of(0)) != nullptr) continue;
    const Rank dies = static_cast<Rank>(engine() % static_cast<std::uint64_t>(size));
    World world(size, s.seed, World::Options{.dies = dies, .dies_after = engine() % 40});
    ASSERT_TRUE(world.run(algorithm, [&calls](Rank r) { return calls.of(r); })) << s.describe() << world.stuck();
    for (Rank r = 0; r < size; ++r) {
      if (r == dies) continue;
      if (world.outcome(r).ok()) {
        EXPECT_EQ(calls.check(r), "") << s.describe() << ", rank " << r << ", death of " << dies;
      } else {
        EXPECT_EQ(world.outcome(r).mpi_class(), MPI_ERR_PROC_ABORTED);
        ++failed;
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(failed, 0);
}

/// Those that send n (n - 1) messages.
bool between_all_pairs(const Algorithm& algorithm) {
  const std::string name = algorithm.name;
  const Collective what = algorithm.collective;
  return name == "ring" || name == "ordered" || name == "neighbour_exchange" || name == "scatter_allgather" ||
         name == "sparbit" || name == "pairwise" ||
         (name == "linear" &&
          (what == Collective::kAllgather || what == Collective::kAllgatherv || what == Collective::kAlltoall ||
           what == Collective::kAlltoallv || what == Collective::kAlltoallw || has_pieces(what)));
}

TEST_P(AlgorithmTest, AtScale) {
  Scenario s;
  s.what = GetParam()->collective;
  s.seed = 8831;
  const bool pairs = between_all_pairs(*GetParam());
  // Where every rank has blocks of every rank, the data stops at a thousand of them.
  const bool wide = has_pieces(s.what) || s.what == Collective::kAllgather || s.what == Collective::kAllgatherv ||
                    s.what == Collective::kAlltoall;
  for (const int size :
       pairs ? std::vector<int>{97, 128} : std::vector<int>{at_scale(1000), at_scale(wide ? 1024 : 4096)}) {
    s.size = size;
    s.root = size * 3 / 5;
    if (has_pieces(s.what)) {
      s.count = pairs ? 3 : 1;
    } else if (reduces(s.what)) {
      s.count = pairs || std::string("rabenseifner") == GetParam()->name ? size : 100;  // a part for each rank
    } else {
      s.count = s.what == Collective::kBcast ? 700 : 2;
    }
    run(s, World::Options{}, {.segment = 2048, .window = 0});
  }
}

// A test of its own in ctest: a million messages each.
TEST_P(AlgorithmTest, EveryPairOfAThousand) {
  if (!between_all_pairs(*GetParam())) return;
  Scenario s;
  s.what = GetParam()->collective;
  s.size = 1000;
  s.root = 600;
  s.count = reduces(s.what) && !has_pieces(s.what) ? s.size : s.what == Collective::kBcast ? 1000 : 1;
  s.seed = 8832;
  run(s, World::Options{});
}

INSTANTIATE_TEST_SUITE_P(All, AlgorithmTest, testing::ValuesIn(all_algorithms()), name_of_test);

}  // namespace
}  // namespace ashlar::sim
