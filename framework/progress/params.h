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
    {"sleep_after_oversubscribed", "100us", "The same where a node has more ranks than cores.", ASHLAR_PARAM_DURATION,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, sleep_after_oversubscribed),
     nullptr},
    {"long_yield", "500us",
     "A yield that takes longer shows that processes outside the job compete for the core: waiting calls then sleep at "
     "once, until a yield is tried again.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, long_yield),
     nullptr},
    {"long_yield_oversubscribed", "1500us",
     "The same where a node has more ranks than cores: a yield there lasts as long as other ranks compute.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN,
     offsetof(Config, long_yield_oversubscribed), nullptr},
    {"yield_retry", "2ms",
     "Time after which a yield is tried again; it doubles from one long yield to the next. 0: waiting calls go on "
     "yielding.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, yield_retry),
     nullptr},
    {"yield_retry_most", "50ms", "The longest such time.", ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL,
     ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, yield_retry_most), nullptr},
    {"thread", "false",
     "Progress in the background while the program computes, by a thread that sleeps until something arrives.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, thread), nullptr},
};

}  // namespace ashlar::progress
