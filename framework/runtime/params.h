#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::runtime {

/// Parameters runtime.*; the rows describe this block.
struct Config {
  std::uint64_t start_timeout = 0;  // ns
};

inline constexpr ashlar_param kParams[] = {
    {"start_timeout", "120s", "How long start-up waits for the other ranks before it says which are missing.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN,
     offsetof(Config, start_timeout), nullptr},
};

}  // namespace ashlar::runtime
