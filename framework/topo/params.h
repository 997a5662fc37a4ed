#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::topo {

/// Parameters topo.*; the rows describe this block.
struct Config {
  std::int32_t reorder = 0;
};

/// The values of reorder, in the order of the names.
enum Reordering : std::int32_t { kMatch, kNone };
inline constexpr const char* kReorderings[] = {"match", "none", nullptr};

inline constexpr ashlar_param kParams[] = {
    {"reorder", "match",
     "What MPI_Cart_create and its like do when they may change ranks: match brings neighbours close to each other on "
     "the hardware, none leaves every process its rank.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, reorder),
     kReorderings},
};

}  // namespace ashlar::topo
