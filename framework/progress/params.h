#pragma once
#include <cstddef>

#include "framework/progress/config.h"

namespace ashlar::progress {

inline constexpr const char* kRounds[] = {"0", "1000000000", nullptr};
inline constexpr const char* kTimes[] = {"0", "1h", nullptr};

inline constexpr ashlar_param kParams[] = {
    {"spin", "2000", "Empty rounds of progress before a waiting call yields its core.", ASHLAR_PARAM_U64,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, spin), kRounds},
    {"spin_oversubscribed", "0", "The same where a node has more ranks than cores.", ASHLAR_PARAM_U64,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, spin_oversubscribed), kRounds},
    {"sleep_after", "1ms", "Time after which a waiting call sleeps until a message wakes it.", ASHLAR_PARAM_DURATION,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, sleep_after), kTimes},
    {"sleep_after_oversubscribed", "100us", "The same where a node has more ranks than cores.", ASHLAR_PARAM_DURATION,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, 0, offsetof(Config, sleep_after_oversubscribed), kTimes},
    {"long_yield", "200us",
     "A yield that takes longer shows that processes outside the job compete for the core: waiting calls then sleep at "
     "once, until a yield is tried again.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, 0, offsetof(Config, long_yield), kTimes},
    {"long_yield_oversubscribed", "1500us",
     "The same where a node has more ranks than cores: a yield there lasts as long as other ranks compute.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, 0, offsetof(Config, long_yield_oversubscribed),
     kTimes},
    {"yield_retry", "50ms",
     "Time after which a yield is tried again; it doubles from one long yield to the next. 0: waiting calls go on "
     "yielding.",
     ASHLAR_PARAM_DURATION, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, 0, offsetof(Config, yield_retry), kTimes},
    {"yield_retry_oversubscribed", "2ms", "The same where a node has more ranks than cores.", ASHLAR_PARAM_DURATION,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, 0, offsetof(Config, yield_retry_oversubscribed), kTimes},
    {"yield_retry_most", "50ms", "The longest time that yield_retry grows to.", ASHLAR_PARAM_DURATION,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, 0, offsetof(Config, yield_retry_most), kTimes},
    {"thread", "false",
     "Progress in the background while the program computes, by a thread that sleeps until something arrives.",
     ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, thread), nullptr},
};

}  // namespace ashlar::progress
