#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::rma {

/// Parameters rma.*; the rows describe this block.
struct Config {
  bool reference = false;
  std::uint64_t range_elements = 128;
};

inline constexpr const char* kElementsRange[] = {"16", "4294967295", nullptr};

inline constexpr ashlar_param kParams[] = {
    {"reference", "false",
     "Every one-sided operation and every wait for a window's processes goes by messages, which the target answers: "
     "the "
     "way that works everywhere, to compare the others with.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, reference),
     nullptr},
    {"range_elements", "128",
     "Elements of an accumulate in mapped memory from which on the process keeps others out and combines them all at "
     "once; fewer are combined one by one, with atomic instructions. 4294967295: always one by one.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, range_elements), kElementsRange},
};

}  // namespace ashlar::rma
