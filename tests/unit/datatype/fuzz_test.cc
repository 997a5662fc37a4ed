// Random nested datatypes against the oracle. The committed seeds run everywhere; for a long run by hand:
//   ASHLAR_FUZZ_SEED=1 ASHLAR_FUZZ_TYPES=1000000 datatype_test --gtest_filter='Fuzz.*'
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/datatype/type_map.h"

namespace ashlar::oracle {
namespace {

std::uint64_t setting(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

void fuzz(std::uint64_t seed, std::uint64_t types) {
  std::mt19937_64 random(seed);
  for (std::uint64_t i = 0; i < types && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", datatype " + std::to_string(i));
    const Sample sample = random_sample(random, 1 + static_cast<int>(random() % 5));
    // Many items only of small ones: the oracle is slow.
    const std::uint64_t most = sample.map.elements.size() > 500 ? 2 : sample.map.elements.size() > 50 ? 6 : 40;
    expect_equal(sample, static_cast<MPI_Count>(random() % (most + 1)), random);
  }
}

class FuzzSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FuzzSeeds, RandomDatatypesAgreeWithTheOracle) { fuzz(GetParam(), setting("ASHLAR_FUZZ_TYPES", 400)); }

INSTANTIATE_TEST_SUITE_P(Committed, FuzzSeeds, testing::Values(1, 2, 3, 8831, 20260101, 0xa5a5a5a5));

TEST(Fuzz, SeedOfTheEnvironment) {
  const std::uint64_t seed = setting("ASHLAR_FUZZ_SEED", 0);
  if (seed == 0) GTEST_SKIP() << "ASHLAR_FUZZ_SEED is not set";
  fuzz(seed, setting("ASHLAR_FUZZ_TYPES", 100000));
}

}  // namespace
}  // namespace ashlar::oracle
