#include "framework/runtime/config.h"

#include <cstddef>

namespace ashlar::runtime {
namespace {

constexpr ashlar_param kParams[] = {
    {"start_timeout", "120s", "How long start-up waits for the other ranks before it says which are missing.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN,
     offsetof(Config, start_timeout), nullptr},
};

}  // namespace

std::span<const ashlar_param> parameters() { return kParams; }

}  // namespace ashlar::runtime
