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

/// Parameters threads.*.
struct ThreadConfig {
  std::uint64_t lanes = 4;
};

inline constexpr ashlar_param kThreadParams[] = {
    {"lanes", "4",
     "Independent contexts that communicators are spread over with MPI_THREAD_MULTIPLE: threads on different ones do not "
     "share a lock.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(ThreadConfig, lanes),
     nullptr},
};

}  // namespace ashlar::runtime
