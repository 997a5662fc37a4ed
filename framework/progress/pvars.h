#pragma once
#include <cstddef>

#include "framework/base/counter.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::progress {

/// What a lane counts under its lock; the rows describe this block. docs/tools.md says how to add a word.
struct Counters {
  MarkedLevel waiting;
  Counter yields, long_yields, sleeps, timeouts, waits, reviews;
  Counter wait_time, yield_time, sleep_time;
  Counter retries, resumed, background_polls, background_events, peers_failed;
};

inline constexpr ashlar_pvar_row kPvars[] = {
    plugin::pvar("yields", "times a waiting call yielded its core", ASHLAR_PVAR_COUNTER, offsetof(Counters, yields)),
    plugin::pvar("long_yields",
                 "of these, those that gave a time slice to a process outside the job (progress.long_yield)",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, long_yields)),
    plugin::pvar("sleeps", "times a waiting call slept until a message woke it", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, sleeps)),
    plugin::pvar("timeouts", "of these, those that nothing woke in time: the call looked around and slept again",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, timeouts)),
    plugin::pvar("waiting", "calls that wait now and are done with their first rounds (progress.spin)",
                 ASHLAR_PVAR_LEVEL, offsetof(Counters, waiting.now), ASHLAR_USER_BASIC),
    plugin::pvar("waiting_peak", "the most such calls at one time; with several lanes, the sum of each one's most",
                 ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, waiting.most)),
    plugin::pvar("waits", "calls that waited beyond their first rounds", ASHLAR_PVAR_COUNTER, offsetof(Counters, waits),
                 ASHLAR_USER_BASIC),
    plugin::pvar("wait_time",
                 "nanoseconds that these calls waited after their first rounds, counted when they end; quicker waits "
                 "are not measured",
                 ASHLAR_PVAR_TIMER, offsetof(Counters, wait_time), ASHLAR_USER_BASIC),
    plugin::pvar("yield_time", "nanoseconds in yields of waiting calls", ASHLAR_PVAR_TIMER,
                 offsetof(Counters, yield_time), ASHLAR_TUNER_BASIC),
    plugin::pvar("sleep_time", "nanoseconds in sleeps", ASHLAR_PVAR_TIMER, offsetof(Counters, sleep_time),
                 ASHLAR_TUNER_BASIC),
    plugin::pvar("reviews", "looks at collectives that have waited long (coll.compare_after)", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, reviews)),
    plugin::pvar("retries", "rounds in which a link that had no room was tried again", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, retries)),
    plugin::pvar("resumed", "steps of collectives and other operations that a round of progress went on with",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, resumed)),
    plugin::pvar("background_polls", "rounds of progress made by background threads (progress.thread)",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, background_polls)),
    plugin::pvar("background_events", "what these rounds handled", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, background_events)),
    plugin::pvar("peers_failed", "processes whose end was noticed; with several lanes, on each one",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, peers_failed), ASHLAR_USER_BASIC),
};

}  // namespace ashlar::progress
