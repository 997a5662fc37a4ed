#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/coll/p2p/algorithms.h"
#include "framework/coll/engine.h"
#include "framework/object/group.h"

namespace ashlar::coll {
namespace {

using testing::HasSubstr;

class ChoiceTest : public testing::Test {
 protected:
  void SetUp() override {
    datatype::register_predefined();
    const AlgorithmList* const lists[] = {&p2p::algorithm_list()};
    ASSERT_TRUE(Engine::open(lists, &engine_).ok());
  }
  static const std::vector<Choice>& choices(const Plan& plan, Collective what) {
    return plan.choices[static_cast<std::size_t>(what)];
  }
  std::unique_ptr<Engine> engine_;
};

TEST_F(ChoiceTest, PlansAreSharedByShape) {
  const Plan& plan = engine_->plan_for({8, 1, 8});
  EXPECT_EQ(&plan, &engine_->plan_for({8, 1, 8}));
  EXPECT_NE(&plan, &engine_->plan_for({8, 2, 4}));
}

TEST_F(ChoiceTest, RulesOfMissingComponentsArePassedOver) {
  const Plan& plan = engine_->plan_for({8, 1, 8});
  for (int i = 0; i < kCollectives; ++i) {
    const auto& list = choices(plan, static_cast<Collective>(i));
    ASSERT_FALSE(list.empty());
    EXPECT_STREQ(list.front().entry->algorithm->component, "p2p") << name_of(static_cast<Collective>(i));
    ASSERT_NE(list.front().rule, nullptr);
    EXPECT_THAT(list.front().rule->origin, HasSubstr("default.yaml:"));
  }
}

TEST_F(ChoiceTest, EveryCallFindsAnAlgorithm) {
  const Plan& plan = engine_->plan_for({24, 3, 8});
  for (int i = 0; i < kCollectives; ++i) {
    bool served = false;
    for (const Choice& choice : choices(plan, static_cast<Collective>(i)))
      served = served || choice.entry->algorithm->excluded == nullptr;
    EXPECT_TRUE(served);
  }
}

TEST_F(ChoiceTest, AnUnknownNameIsAnsweredWithWhatThereIs) {
  const Status status = engine_->catalogue.unknown(Collective::kAllreduce, "rign", "site.yaml:3");
  EXPECT_EQ(status.mpi_class(), MPI_ERR_ARG);
  EXPECT_THAT(status.text(), HasSubstr("did you mean 'ring'"));
  EXPECT_THAT(status.text(), HasSubstr("recursive_doubling, rabenseifner, ring"));
  EXPECT_THAT(status.text(), HasSubstr("site.yaml:3"));
}

TEST_F(ChoiceTest, IntercommunicatorsHaveAlgorithmsOfTheirOwn) {
  static constexpr Algorithm kMine[] = {{.collective = Collective::kBcast,
                                         .name = "inter",
                                         .component = "inter",
                                         .summary = "",
                                         .run = nullptr,
                                         .traits = kInter}};
  const AlgorithmList inter = list_of(kMine);
  const AlgorithmList* const lists[] = {&inter, &p2p::algorithm_list()};
  ASSERT_TRUE(Engine::open(lists, &engine_).ok());
  for (const bool between_groups : {false, true}) {
    const Plan& plan = engine_->plan_for({8, 1, 8, between_groups});
    for (const Choice& choice : choices(plan, Collective::kBcast))
      EXPECT_EQ(choice.entry->algorithm->is(kInter), between_groups);
    EXPECT_EQ(choices(plan, Collective::kBcast).empty(), false);
  }
}

TEST_F(ChoiceTest, ReproducibleReductionsKeepTheOrderOfRanks) {
  engine_->config.reproducible = true;
  const Plan& plan = engine_->plan_for({9, 1, 9});
  for (int i = 0; i < kCollectives; ++i) {
    const auto what = static_cast<Collective>(i);
    EXPECT_FALSE(choices(plan, what).empty()) << name_of(what);
    for (const Choice& choice : choices(plan, what))
      EXPECT_TRUE(!reduces(what) || choice.entry->algorithm->is(kFixedOrder)) << choice.entry->algorithm->name;
  }
}

TEST_F(ChoiceTest, EveryCollectiveHasALinearForm) {
  for (int i = 0; i < kCollectives; ++i)
    EXPECT_NE(engine_->catalogue.find(static_cast<Collective>(i), "linear"), nullptr)
        << name_of(static_cast<Collective>(i));
}

// Two jobs of two processes each, on the nodes x and y: in one process the other job's have the numbers 2 and 3, and
// each launcher counts the nodes in its own way.
TEST_F(ChoiceTest, ProcessesOfTwoJobsNumberTheirNodesAlike) {
  constexpr std::uint64_t kX = 0x7100000000000001, kY = 0x2200000000000002;
  const std::uint32_t upwards[] = {0, 1}, downwards[] = {1, 0};
  engine_->job.ranks = 2;
  const auto numbered = [this](const std::uint32_t* node_of, auto identity, std::vector<PeerId> members) {
    engine_->job.node_of = node_of;
    engine_->job.node_identity = identity;
    return engine_->nodes_of(*Ref<Group>::adopt(Group::of(members)));
  };
  const auto of_first =
      numbered(upwards, [](PeerId peer, std::uint64_t) { return peer % 2 == 0 ? kX : kY; }, {0, 1, 2, 3});
  const auto of_second =
      numbered(downwards, [](PeerId peer, std::uint64_t) { return peer % 2 == 0 ? kX : kY; }, {2, 3, 0, 1});
  EXPECT_THAT(of_first, testing::ElementsAre(0u, 1u, 0u, 1u));
  EXPECT_EQ(of_first, of_second);
  EXPECT_THAT(numbered(downwards, nullptr, {0, 1}), testing::ElementsAre(1u, 0u)) << "as the launcher has them";
}

TEST(SizeBinTest, Bounds) {
  EXPECT_EQ(size_bin(0), 0);
  EXPECT_EQ(size_bin(64), 0);
  EXPECT_EQ(size_bin(65), 1);
  EXPECT_EQ(size_bin(4096), 1);
  EXPECT_EQ(size_bin(256 * 1024), 2);
  EXPECT_EQ(size_bin(4 * 1024 * 1024), 3);
  EXPECT_EQ(size_bin(MPI_Count{1} << 40), 4);
}

TEST_F(ChoiceTest, OfTwoComponentsWithOneNameTheFirstStays) {
  Catalogue catalogue;
  static constexpr Algorithm kMine[] = {{.collective = Collective::kBarrier,
                                         .name = "dissemination",
                                         .component = "other",
                                         .summary = "",
                                         .run = nullptr}};
  catalogue.add(list_of(kMine));
  catalogue.add(p2p::algorithm_list());
  EXPECT_STREQ(catalogue.find(Collective::kBarrier, "dissemination")->algorithm->component, "other");
  EXPECT_EQ(catalogue.find(Collective::kBcast, "binomial")->component, 1u);
}

}  // namespace
}  // namespace ashlar::coll
