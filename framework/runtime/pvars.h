#pragma once
#include <cstddef>

#include "framework/base/counter.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::runtime {

/// What the process counts, under the mutex with which one lane answers for all.
struct Counters {
  Counter queries, query_bytes, stalls;
};

/// Sessions that are open.
const Counter& sessions_alive();

inline constexpr ashlar_pvar_row kPvars[] = {
    plugin::pvar("queries", "times this process told the launcher what it is doing, because it was asked",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, queries), ASHLAR_USER_BASIC),
    plugin::pvar("query_bytes", "bytes in these answers", ASHLAR_PVAR_AGGREGATE, offsetof(Counters, query_bytes)),
    plugin::computed_pvar("sessions", "sessions that are open", ASHLAR_PVAR_LEVEL,
                          [](const ashlar_pvar_row*, const void*, const void*, std::uint64_t* values, std::uint32_t) {
                            values[0] = sessions_alive().get();
                          }),
    plugin::pvar("stalls", "waits of this process in which nothing happened for watch.stall", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, stalls), ASHLAR_USER_BASIC),
};

}  // namespace ashlar::runtime
