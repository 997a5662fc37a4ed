#pragma once
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/conformance/rma/world.h"
#include "tests/unit/p2p/faults.h"

namespace ashlar::test {

/// A kind of memory and the faults of the transport.
struct RmaCase {
  Memory memory;
  unsigned seed;
};

class RmaTest : public testing::TestWithParam<RmaCase> {
 protected:
  static constexpr int kRanks = 3;
  static constexpr std::size_t kBytes = 8192;

  LoopOptions options() const { return remote_faults(GetParam().seed); }
  std::mt19937 random_of(int rank) const { return std::mt19937(GetParam().seed * 1000 + static_cast<unsigned>(rank)); }
};

inline std::vector<RmaCase> rma_cases(std::initializer_list<Memory> kinds = {Memory::kHeap, Memory::kPrivate,
                                                                             Memory::kDynamic}) {
  std::vector<RmaCase> cases;
  for (const Memory memory : kinds)
    for (unsigned seed = 1; seed <= 4; ++seed) cases.push_back({.memory = memory, .seed = seed});
  return cases;
}

inline std::string name_of(const testing::TestParamInfo<RmaCase>& info) {
  constexpr const char* kNames[] = {"Heap", "Private", "Dynamic"};
  return kNames[static_cast<int>(info.param.memory)] + std::to_string(info.param.seed);
}

}  // namespace ashlar::test
