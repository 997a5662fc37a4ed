#include "framework/coll/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ashlar::coll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RuleReaderTest, ReadsRowsInTheOrderOfTheFile) {
  RuleReader reader("site.yaml");
  reader.setting("schema", "1", 1);
  reader.setting("origin", "cluster x", 2);
  reader.setting("allreduce.small.bytes", "..4KiB", 4);
  reader.setting("allreduce.small.nodes", "1", 4);
  reader.setting("allreduce.small.commutative", "true", 4);
  reader.setting("allreduce.small.use", "shm", 4);
  reader.setting("bcast.large.bytes", "1MiB..", 6);
  reader.setting("bcast.large.ranks", "2..64", 6);
  reader.setting("bcast.large.use", "chain", 6);
  reader.setting("bcast.large.segment", "64KiB", 6);
  const std::vector<Rule>& rules = reader.rules();
  EXPECT_THAT(reader.problems(), ElementsAre());
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].collective, Collective::kAllreduce);
  EXPECT_STREQ(rules[0].algorithm, "shm");
  EXPECT_TRUE(rules[0].bytes.has(0) && rules[0].bytes.has(4096) && !rules[0].bytes.has(4097));
  EXPECT_EQ(rules[0].commute, Rule::Commute::kYes);
  EXPECT_TRUE(rules[0].fits({4, 1, 4}) && !rules[0].fits({4, 2, 2}));
  EXPECT_STREQ(rules[0].origin, "site.yaml:4 (allreduce.small)");
  EXPECT_TRUE(rules[1].bytes.has(1 << 20) && !rules[1].bytes.has((1 << 20) - 1));
  EXPECT_TRUE(rules[1].fits({64, 8, 8}) && !rules[1].fits({65, 8, 9}));
  EXPECT_EQ(rules[1].arguments.segment, 65536);
  EXPECT_EQ(reader.origin(), "cluster x");
}

TEST(RuleReaderTest, SaysWhatIsWrongAndWhere) {
  RuleReader reader("x.yaml");
  reader.setting("schema", "2", 1);
  reader.setting("allredcue.a.use", "ring", 2);
  reader.setting("bcast.a.bytes", "4Q", 3);
  reader.setting("bcast.a.bytes", "8..4", 4);
  reader.setting("bcast.a.node_rank", "4", 5);
  reader.setting("bcast.use", "ring", 6);
  reader.rules();
  EXPECT_THAT(reader.problems(),
              ElementsAre(HasSubstr("x.yaml:1: this library reads schema 1"),
                          HasSubstr("x.yaml:2: there is no collective 'allredcue'; did you mean 'allreduce'?"),
                          HasSubstr("x.yaml:3: cannot read '4Q' as bytes, a range of sizes, such as"),
                          HasSubstr("x.yaml:4: cannot read '8..4'"), HasSubstr("did you mean 'node_ranks'?"),
                          HasSubstr("x.yaml:6: 'bcast.use' is not of the form"),
                          HasSubstr("x.yaml:3: row 'bcast.a' does not say what to use")));
}

TEST(DefaultRulesTest, EveryCollectiveHasALastResort) {
  const RuleTable table = default_rules();
  bool always[kCollectives] = {};
  for (std::size_t i = 0; i < table.count; ++i) {
    const Rule& rule = table.first[i];
    if (rule.fits({1, 1, 1}) && rule.fits({100'000, 1000, 128}) && rule.commute == Rule::Commute::kAny &&
        rule.bytes.has(0) && rule.bytes.has(MPI_Count{1} << 50))
      always[static_cast<int>(rule.collective)] = true;
  }
  for (int i = 0; i < kCollectives; ++i) EXPECT_TRUE(always[i]) << name_of(static_cast<Collective>(i));
}

}  // namespace
}  // namespace ashlar::coll
