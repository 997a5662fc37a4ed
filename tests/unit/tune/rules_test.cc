#include "mpiexec/tune/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Point::of lies with the measuring, which needs a job.
namespace ashlar::tune {

const Figure* Point::of(const std::string& algorithm) const {
  for (const Figure& figure : figures) {
    if (figure.algorithm == algorithm) return &figure;
  }
  return nullptr;
}

namespace {

using coll::Collective;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<Point> points() {
  return {{Collective::kBcast, 8, "shm", "default.yaml:9", {{"shm", 1e-6}, {"binomial", 3e-6}}},
          {Collective::kBcast, 4096, "shm", "default.yaml:9", {{"binomial", 4.0e-6}, {"shm", 4.2e-6}}},
          {Collective::kBcast, 65536, "shm", "default.yaml:9", {{"chain", 1e-5}, {"shm", 4e-5}}},
          {Collective::kScan, 8, "doubling", "default.yaml:70", {{"doubling", 2e-6}}}};
}

TEST(TuneTest, AnAlgorithmGoesOnWhileItIsNearlyTheBest) {
  const std::string file = tuning_file(points(), coll::Shape{4, 1, 4}, "a test", 0.1);
  EXPECT_THAT(file, HasSubstr("schema: 1\norigin: a test\n"));
  EXPECT_THAT(file, HasSubstr("bcast:\n"
                              "  row1: {nodes: 1, ranks: 4, bytes: ..4KiB, use: shm}\n"
                              "  row2: {nodes: 1, ranks: 4, use: chain}\n"));
  EXPECT_THAT(file, HasSubstr("scan:\n  row1: {nodes: 1, ranks: 4, use: doubling}\n"));
  EXPECT_THAT(file, Not(HasSubstr("binomial")));
}

TEST(TuneTest, RulesBetweenNodesAreForAsManyRanksOnEach) {
  EXPECT_THAT(tuning_file(points(), coll::Shape{8, 2, 4}, "a test", 0.1),
              HasSubstr("scan:\n  row1: {nodes: 2, node_ranks: 4, ranks: 8, use: doubling}\n"));
}

TEST(TuneTest, SaysWhichRulesAreOutdated) {
  const std::vector<std::string> lines = outdated(points(), 0.1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("bcast 64KiB: shm takes 40.00 us (default.yaml:9), but chain takes 10.00 us"));
  EXPECT_THAT(outdated(points(), 5), IsEmpty());
}

}  // namespace
}  // namespace ashlar::tune
