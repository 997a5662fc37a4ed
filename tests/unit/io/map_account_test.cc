#include "framework/io/map_account.h"

#include <gtest/gtest.h>

namespace ashlar::io {
namespace {

constexpr double kFaults = 1000;  // of a new mapping

/// What accesses to one range cost by the account: `other` a way that moves nothing through a mapping, `warm` one
/// through a mapping whose pages are there, with `again` for pages that fault each time.
struct Costs {
  double other, warm, again;
};

double run(int accesses, const Costs& costs, int* mapped = nullptr) {
  MapAccount account(kFaults);
  bool there = false;
  double all = 0;
  for (int i = 0; i < accesses; ++i) {
    if (!there && !account.worth_it()) {
      all += costs.other;
      account.passed_by(costs.other - costs.warm);
      continue;
    }
    const double took = costs.warm + (there ? costs.again : kFaults);
    if (there) {
      there = account.used(costs.other - took);
    } else {
      account.start_anew();
      there = true;
    }
    all += took;
    if (mapped != nullptr) ++*mapped;
  }
  return all;
}

TEST(MapAccountTest, ARangeThatIsAccessedOnceIsNotMapped) {
  int mapped = 0;
  run(1, {.other = 900, .warm = 50, .again = 0}, &mapped);
  EXPECT_EQ(mapped, 0);
}

TEST(MapAccountTest, OneThatAccessesComeBackToIs) {
  int mapped = 0;
  const double cost = run(1000, {.other = 250, .warm = 50, .again = 0}, &mapped);
  EXPECT_EQ(mapped, 1000 - 5);
  EXPECT_LE(cost, 5 * 250 + kFaults + 1000 * 50);
}

TEST(MapAccountTest, NothingCostsMoreThanTwiceTheBest) {
  for (int accesses = 1; accesses < 300; ++accesses) {
    for (const double other : {60.0, 100.0, 300.0, 999.0}) {
      const double best = std::min(accesses * other, kFaults + accesses * 50);
      EXPECT_LE(run(accesses, {.other = other, .warm = 50, .again = 0}), 2 * best + other)
          << accesses << " at " << other;
    }
  }
}

TEST(MapAccountTest, AWayThatIsCheaperAnywayStays) {
  int mapped = 0;
  run(100000, {.other = 40, .warm = 50, .again = 0}, &mapped);
  EXPECT_EQ(mapped, 0);
}

TEST(MapAccountTest, AMappingThatLosesIsGivenUpMoreAndMoreSeldom) {
  constexpr int kAccesses = 100000;
  const double cost = run(kAccesses, {.other = 200, .warm = 50, .again = kFaults});
  EXPECT_LE(cost, kAccesses * 200 * 1.01);
}

TEST(MapAccountTest, OneThatPaysAgainIsAsDearAsAtFirst) {
  MapAccount account(kFaults);
  const auto accesses_until_worth_it = [&] {
    int count = 0;
    for (; !account.worth_it(); ++count) account.passed_by(100);
    account.start_anew();
    return count;
  };
  EXPECT_EQ(accesses_until_worth_it(), 10);
  while (account.used(-1e9)) continue;
  EXPECT_EQ(accesses_until_worth_it(), 80);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(account.used(100));
  for (int losses = 0; account.used(-1e9); ++losses) EXPECT_LT(losses, 4);
  EXPECT_EQ(accesses_until_worth_it(), 80) << "and not 640";
}

TEST(MapAccountTest, OneThatCannotBeMadeIsNotTriedAgain) {
  MapAccount account(kFaults);
  account.never();
  for (int i = 0; i < 1000; ++i) account.passed_by(1e6);
  EXPECT_FALSE(account.worth_it());
}

}  // namespace
}  // namespace ashlar::io
