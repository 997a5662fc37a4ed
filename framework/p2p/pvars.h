#pragma once
#include <cstddef>
#include <span>

#include "framework/base/counter.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::p2p {

/// What a lane counts under its lock; the rows describe this block. docs/tools.md says how to add a word.
struct Counters {
  MarkedLevel unexpected, unexpected_bytes;
  Counter unexpected_total, throttles, handshakes, single_copies, single_copy_failures;
};

inline constexpr ashlar_pvar_row kCounterRows[] = {
    plugin::pvar("unexpected", "messages kept because no receive has asked for them", ASHLAR_PVAR_LEVEL,
                 offsetof(Counters, unexpected.now), ASHLAR_USER_BASIC),
    plugin::pvar("unexpected_peak",
                 "the most messages kept at one time; with several lanes, the sum of each one's most",
                 ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, unexpected.most), ASHLAR_USER_BASIC),
    plugin::pvar("unexpected_bytes", "bytes of memory in kept messages", ASHLAR_PVAR_LEVEL,
                 offsetof(Counters, unexpected_bytes.now), ASHLAR_USER_BASIC),
    plugin::pvar("unexpected_bytes_peak",
                 "the most bytes in kept messages at one time; with several lanes, the sum of each one's most",
                 ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, unexpected_bytes.most), ASHLAR_USER_BASIC),
    plugin::pvar("unexpected_total", "messages that came before their receive", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, unexpected_total), ASHLAR_USER_BASIC),
    plugin::pvar("throttles", "times a peer was throttled (p2p.unexpected_limit)", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, throttles)),
    plugin::pvar("handshakes", "messages sent by rendezvous", ASHLAR_PVAR_COUNTER, offsetof(Counters, handshakes),
                 ASHLAR_TUNER_BASIC),
    plugin::pvar("single_copies", "messages read from the sender's memory", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, single_copies), ASHLAR_TUNER_BASIC),
    plugin::pvar("single_copy_failures", "such reads that failed and were replaced by fragments", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, single_copy_failures)),
};

/// Pools and lists of a lane, whose block is its LaneState; defined in pvars.cc.
extern const std::span<const ashlar_pvar_row> pool_rows;
/// Of each communicator; the block only says that lanes are there.
extern const std::span<const ashlar_pvar_row> comm_rows;

}  // namespace ashlar::p2p
