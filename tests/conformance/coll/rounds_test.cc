// What an algorithm of the C interface owes: the right bytes on every rank for every size, type, root and form, in any
// order of arrival, and an end when a rank dies.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "framework/coll/choose.h"
#include "framework/coll/rounds.h"
#include "tests/conformance/check/subject.h"
#include "tests/sim/scenario.h"
#include "tests/sim/world.h"

namespace ashlar::test {
namespace {

using coll::Collective;
using sim::Calls;
using sim::Scenario;
using sim::World;

/// The rows of the component under test; none when it is of another framework or cannot serve.
const coll::RoundsModule* rows() {
  static std::unique_ptr<coll::RoundsModule> made = [] {
    std::unique_ptr<coll::RoundsModule> module;
    if (subject().framework != "coll") return module;
    static SubjectRegistry registry(nullptr);
    ashlar_coll* of_component = nullptr;
    Status status;
    if (registry.component()) status = registry.component()->create(nullptr, &of_component);
    if (of_component && status.ok()) status = coll::RoundsModule::make(*of_component, subject().name.c_str(), &module);
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.text());
    return module;
  }();
  return made.get();
}

std::vector<const coll::Algorithm*> algorithms() {
  std::vector<const coll::Algorithm*> found;
  const coll::AlgorithmList list = rows() ? rows()->list() : coll::AlgorithmList{};
  for (std::uint32_t i = 0; i < list.count; ++i) found.push_back(&list.first[i]);
  return found;
}

class Rounds : public testing::TestWithParam<const coll::Algorithm*> {
 protected:
  Scenario draw(int size) {
    const auto below = [&](int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); };
    const Collective what = GetParam()->collective;
    return {.what = what,
            .size = size,
            .root = below(size),
            .count = below(4) == 0   ? 0
                     : below(3) == 0 ? 1 + below(3)
                                     : below(2 * size + 40),
            .items = static_cast<sim::Items>(below(static_cast<int>(sim::Items::kCount_))),
            .operation = static_cast<sim::Operation>(below(static_cast<int>(sim::Operation::kCount_))),
            .in_place = what != Collective::kBarrier && what != Collective::kBcast && below(2) == 0,
            .seed = engine_()};
  }
  /// Whether the algorithm serves the call.
  bool run(const Scenario& scenario, const World::Options& options) {
    Calls calls(scenario);
    if (coll::why_not(*GetParam(), calls.shape(), calls.of(0))) return false;
    World world(scenario.size, scenario.seed, options);
    const bool finished = world.run(*GetParam(), [&calls](Rank r) { return calls.of(r); });
    EXPECT_TRUE(finished) << scenario.describe() << ": " << world.stuck();
    for (Rank r = 0; finished && r < scenario.size; ++r) {
      EXPECT_TRUE(world.outcome(r).ok()) << scenario.describe() << ", rank " << r << ": " << world.outcome(r).text();
      EXPECT_EQ(calls.check(r), "") << scenario.describe() << ", rank " << r;
    }
    return true;
  }
  std::mt19937_64 engine_{20261122};
};

TEST_P(Rounds, EveryNumberOfRanksAndEverySize) {
  int served = 0;
  for (int size = 1; size <= 40 && !HasFailure(); ++size)
    for (int round = 0; round < 8; ++round) served += run(draw(size), World::Options{});
  EXPECT_GT(served, 0) << "its restrictions leave no call";
}

TEST_P(Rounds, TheBlockingForm) {
  for (int size = 1; size <= 16 && !HasFailure(); ++size)
    for (int rank = 0; rank < size; rank += 3) run(draw(size), World::Options{.blocking_rank = rank});
}

TEST_P(Rounds, ManyRanks) {
  for (const int size : {64, 100, 128})
    for (int round = 0; round < 2 && !HasFailure(); ++round) run(draw(size), World::Options{});
}

TEST_P(Rounds, MessagesInTheOrderOfTheirSends) {
  for (int size = 2; size <= 16 && !HasFailure(); ++size) run(draw(size), World::Options{.shuffle = false});
}

// Every living rank comes to an end, well or badly, whenever another one dies.
TEST_P(Rounds, ARankThatDies) {
  for (int size = 2; size <= 9 && !HasFailure(); ++size) {
    for (std::uint64_t events = 0; events < 12; ++events) {
      const Scenario scenario = draw(size);
      Calls calls(scenario);
      if (coll::why_not(*GetParam(), calls.shape(), calls.of(0))) continue;
      World world(size, scenario.seed,
                  {.dies = static_cast<Rank>(scenario.seed % static_cast<unsigned>(size)), .dies_after = events});
      EXPECT_TRUE(world.run(*GetParam(), [&calls](Rank r) { return calls.of(r); }))
          << scenario.describe() << ": " << world.stuck();
    }
  }
}

TEST_P(Rounds, SaysWhatItIs) {
  EXPECT_STRNE(GetParam()->name, "");
  EXPECT_STRNE(GetParam()->summary, "") << "a line for listings is missing";
}

INSTANTIATE_TEST_SUITE_P(Installed, Rounds, testing::ValuesIn(algorithms()), [](const auto& test) {
  return std::string(coll::name_of(test.param->collective)) + "_" + test.param->name;
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Rounds);

}  // namespace
}  // namespace ashlar::test
