#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::rma {

/// Parameters rma.*; the rows describe this block.
struct Config {
  bool reference = false;
};

inline constexpr ashlar_param kParams[] = {
    {"reference", "false",
     "Every one-sided operation and every wait for a window's processes goes by messages, which the target answers: the "
     "way that works everywhere, to compare the others with.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, reference),
     nullptr},
};

}  // namespace ashlar::rma
