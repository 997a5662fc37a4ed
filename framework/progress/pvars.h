#pragma once
#include <cstddef>

#include "framework/base/counter.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::progress {

/// What a lane counts under its lock; the rows describe this block. docs/tools.md says how to add a word.
struct Counters {
  Counter yields, long_yields, sleeps;
};

inline constexpr ashlar_pvar_row kPvars[] = {
    plugin::pvar("yields", "times a waiting call yielded its core", ASHLAR_PVAR_COUNTER, offsetof(Counters, yields)),
    plugin::pvar("long_yields",
                 "of these, those that gave a time slice to a process outside the job (progress.long_yield)",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, long_yields)),
    plugin::pvar("sleeps", "times a waiting call slept until a message woke it", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, sleeps)),
};

}  // namespace ashlar::progress
