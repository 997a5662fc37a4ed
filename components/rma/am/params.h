#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::rma::am {

/// Parameters rma.am.*; the rows describe this block.
struct Config {
  std::uint64_t credits;
  std::uint64_t queue_limit;
};

inline constexpr const char* kCreditRange[] = {"1", "1000000", nullptr};
inline constexpr const char* kQueueRange[] = {"1", "1000000000", nullptr};

inline constexpr ashlar_param kParams[] = {
    {.name = "credits",
     .fallback = "64",
     .help = "Fragments of one-sided operations by messages that may be under way from one process to another, in one "
             "window, before the target has answered. It bounds the memory that the target needs for answers.",
     .type = ASHLAR_PARAM_U64,
     .scope = ASHLAR_SCOPE_LOCAL,
     .verbosity = ASHLAR_TUNER_DETAIL,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, credits)),
     .choices = kCreditRange},
    {.name = "queue_limit",
     .fallback = "4096",
     .help =
         "One-sided operations by messages that one window of a process keeps for one target. A call that starts one "
         "more makes progress until another one is over.",
     .type = ASHLAR_PARAM_U64,
     .scope = ASHLAR_SCOPE_LOCAL,
     .verbosity = ASHLAR_TUNER_DETAIL,
     .flags = ASHLAR_PARAM_FROZEN,
     .offset = static_cast<std::uint32_t>(offsetof(Config, queue_limit)),
     .choices = kQueueRange},
};

}  // namespace ashlar::rma::am
