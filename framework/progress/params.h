#pragma once
#include <cstddef>

#include "framework/progress/config.h"

namespace ashlar::progress {

inline constexpr ashlar_param kParams[] = {
    {"spin", "2000", "Empty rounds of progress before a waiting call offers its core to others.", ASHLAR_PARAM_U64,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, spin), nullptr},
    {"spin_oversubscribed", "0", "The same where a node has more ranks than cores.", ASHLAR_PARAM_U64,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, spin_oversubscribed), nullptr},
    {"sleep_after", "1ms", "Time after which a waiting call sleeps until a message wakes it.", ASHLAR_PARAM_DURATION,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, sleep_after), nullptr},
};

}  // namespace ashlar::progress
