#include "framework/topo/dims.h"

#include <gmock/gmock.h>

#include <functional>
#include <numeric>

namespace ashlar::topo {
namespace {

using testing::ElementsAre;

/// The definition, by looking at every list of factors.
std::vector<int> by_definition(int number, int parts) {
  std::vector<int> best, now;
  const auto better = [&] {
    if (best.empty()) return true;
    const int gap = now.front() - now.back(), best_gap = best.front() - best.back();
    return gap < best_gap || (gap == best_gap && now.front() < best.front());
  };
  const std::function<void(int, int)> visit = [&](int left, int above) {
    if (static_cast<int>(now.size()) == parts) {
      if (left == 1 && better()) best = now;
      return;
    }
    for (int d = std::min(left, above); d >= 1; --d) {
      if (left % d != 0) continue;
      now.push_back(d);
      visit(left / d, d);
      now.pop_back();
    }
  };
  visit(number, number);
  return best;
}

TEST(EvenFactors, AreWhatTheirDefinitionSays) {
  for (int parts = 1; parts <= 5; ++parts)
    for (int number = 1; number <= 400; ++number) {
      const std::vector<int> found = even_factors(number, parts), expected = by_definition(number, parts);
      ASSERT_EQ(found.front() - found.back(), expected.front() - expected.back()) << number << " in " << parts;
      ASSERT_EQ(found.front(), expected.front()) << number << " in " << parts;
      ASSERT_TRUE(std::is_sorted(found.rbegin(), found.rend()));
      ASSERT_EQ(std::accumulate(found.begin(), found.end(), 1LL, std::multiplies<>()), number);
    }
}

TEST(EvenFactors, OfNumbersThatGreedySplittingGetsWrong) {
  EXPECT_THAT(even_factors(6, 2), ElementsAre(3, 2));
  EXPECT_THAT(even_factors(7, 2), ElementsAre(7, 1));
  EXPECT_THAT(even_factors(72, 3), ElementsAre(6, 4, 3));
  EXPECT_THAT(even_factors(216, 3), ElementsAre(6, 6, 6));
  EXPECT_THAT(even_factors(16 * 16 * 16, 3), ElementsAre(16, 16, 16));
  EXPECT_THAT(even_factors(2 * 3 * 5 * 7, 2), ElementsAre(15, 14));
  EXPECT_THAT(even_factors(12, 4), ElementsAre(3, 2, 2, 1));
}

TEST(EvenFactors, OfLargeNumbersTakeNoTime) {
  EXPECT_THAT(even_factors(1 << 30, 3), ElementsAre(1024, 1024, 1024));
  EXPECT_THAT(even_factors(2147483647, 2), ElementsAre(2147483647, 1));  // a prime
  const std::vector<int> many = even_factors(735134400, 9);              // 1344 divisors
  EXPECT_EQ(std::accumulate(many.begin(), many.end(), 1LL, std::multiplies<>()), 735134400);
  EXPECT_LE(many.front() - many.back(), 15);
  EXPECT_EQ(even_factors(2 * 3 * 5 * 7, 50).front(), 7);
}

}  // namespace
}  // namespace ashlar::topo
