#include "framework/runtime/config.h"

#include <cstddef>

namespace ashlar::runtime {
namespace {

constexpr ashlar_param kParams[] = {
    {"start_timeout", "120s", "How long start-up waits for the other ranks before it says which are missing.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN,
     offsetof(Config, start_timeout), nullptr},
    {"explain", "", "Topics of the decisions that rank 0 prints when it leaves: launch, transport, coll, p2p ..., or all.",
     ASHLAR_PARAM_STRING, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, explain), nullptr},
    {"log_level", "error", "Which lines the library prints to standard error.", ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL,
     ASHLAR_USER_DETAIL, 0, offsetof(Config, log_level), kLogLevels},
};

}  // namespace

const char* const kLogLevels[] = {"error", "warn", "info", "debug", "trace", nullptr};

std::span<const ashlar_param> parameters() { return kParams; }

}  // namespace ashlar::runtime
