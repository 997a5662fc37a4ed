#pragma once
#include <cstddef>
#include <span>

#include "framework/base/counter.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::coll {

struct LaneCollectives;

/// What the collectives of a lane count under its lock; the rows describe this block. The counters of each algorithm
/// are in its CatalogueEntry.
struct Counters {
  MarkedLevel in_flight, scratch;
  Counter blocking, nonblocking, starts, without_data, bytes;
  Counter instead, compared, reports_kept, answers, failed, reports_dropped;
};

inline constexpr ashlar_pvar_row kCounterRows[] = {
    plugin::pvar("in_flight", "nonblocking and persistent collectives that rounds of progress complete",
                 ASHLAR_PVAR_LEVEL, offsetof(Counters, in_flight.now), ASHLAR_USER_BASIC),
    plugin::pvar("in_flight_peak", "the most of these at one time; with several lanes, the sum of each one's most",
                 ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, in_flight.most)),
    plugin::pvar("scratch", "bytes of temporaries that communicators keep for their next collectives",
                 ASHLAR_PVAR_LEVEL, offsetof(Counters, scratch.now)),
    plugin::pvar("scratch_peak", "the most such bytes at one time; with several lanes, the sum of each one's most",
                 ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, scratch.most)),
    plugin::pvar("blocking", "blocking collectives called", ASHLAR_PVAR_COUNTER, offsetof(Counters, blocking),
                 ASHLAR_USER_BASIC),
    plugin::pvar("nonblocking", "nonblocking collectives called", ASHLAR_PVAR_COUNTER, offsetof(Counters, nonblocking),
                 ASHLAR_USER_BASIC),
    plugin::pvar("starts", "starts of persistent collectives", ASHLAR_PVAR_COUNTER, offsetof(Counters, starts),
                 ASHLAR_USER_BASIC),
    plugin::pvar("without_data", "of all these, calls that had nothing to do: no data, or one rank",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, without_data)),
    plugin::pvar("bytes", "bytes of all these, as the rules that choose an algorithm count them", ASHLAR_PVAR_AGGREGATE,
                 offsetof(Counters, bytes), ASHLAR_USER_BASIC),
    plugin::pvar("instead", "collectives that went on with another algorithm than the rules say, which could not serve",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, instead)),
    plugin::pvar("compared", "collectives whose arguments were compared among the ranks (check.collectives)",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, compared)),
    plugin::pvar("reports_kept", "reports of failed collectives that came before this rank called them",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, reports_kept)),
    plugin::pvar("reports_dropped", "of these, those that made room for newer ones", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, reports_dropped)),
    plugin::pvar("answers", "answers to ranks whose collective cannot complete", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, answers)),
    plugin::pvar("failed", "collectives that failed on this rank, because of its own call or of another rank",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, failed), ASHLAR_USER_BASIC),
};

/// The pool of a lane, whose block is its LaneCollectives; defined in pvars.cc.
extern const std::span<const ashlar_pvar_row> pool_rows;
/// Of each communicator, beside p2p's.
extern const std::span<const ashlar_pvar_row> comm_rows;

/// Shows what a lane counts, and takes it away again: what was counted stays.
void add_pvars(const LaneCollectives& own);
void remove_pvars(const LaneCollectives& own);

}  // namespace ashlar::coll
