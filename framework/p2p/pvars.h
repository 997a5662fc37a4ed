#pragma once
#include <cstddef>
#include <span>

#include "framework/base/counter.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::p2p {

/// What a lane counts under its lock; the rows describe this block. docs/tools.md says how to add a word.
struct Counters {
  MarkedLevel unexpected, unexpected_bytes;
  Counter unexpected_total, throttles, throttled, handshakes, single_copies, single_copy_failures;
  Counter handshake_bytes, single_copy_bytes, fragmented, fragments, fragment_bytes;
  Counter packed, packed_bytes, synchronous, buffered, buffered_bytes;
  Counter queued, answers_queued, cancelled, truncated, lost, links;
  Counter native_sent, native_announced, native_received, native_claimed, native_filed;
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
    plugin::pvar("throttled", "times a peer throttled this process (p2p.unexpected_limit there)", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, throttled)),
    plugin::pvar("handshake_bytes", "bytes in messages sent by rendezvous", ASHLAR_PVAR_AGGREGATE,
                 offsetof(Counters, handshake_bytes), ASHLAR_TUNER_BASIC),
    plugin::pvar("single_copy_bytes", "bytes read from the memory of senders", ASHLAR_PVAR_AGGREGATE,
                 offsetof(Counters, single_copy_bytes), ASHLAR_TUNER_BASIC),
    plugin::pvar("fragmented", "messages whose receiver asked for fragments", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, fragmented), ASHLAR_TUNER_BASIC),
    plugin::pvar("fragments", "fragments sent", ASHLAR_PVAR_COUNTER, offsetof(Counters, fragments)),
    plugin::pvar("fragment_bytes", "bytes in fragments sent", ASHLAR_PVAR_AGGREGATE, offsetof(Counters, fragment_bytes),
                 ASHLAR_TUNER_BASIC),
    plugin::pvar("packed",
                 "eager messages that were packed into a transport's buffer: too long to go short, or not dense",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, packed), ASHLAR_TUNER_BASIC),
    plugin::pvar("packed_bytes", "bytes in these", ASHLAR_PVAR_AGGREGATE, offsetof(Counters, packed_bytes),
                 ASHLAR_TUNER_BASIC),
    plugin::pvar("synchronous", "eager messages sent in synchronous or ready mode with an answer", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, synchronous)),
    plugin::pvar("buffered", "buffered sends that could not leave at once and went through the buffer",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, buffered)),
    plugin::pvar("buffered_bytes", "packed bytes in these", ASHLAR_PVAR_AGGREGATE, offsetof(Counters, buffered_bytes)),
    plugin::pvar("queued", "messages that waited for room in a transport", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, queued), ASHLAR_TUNER_BASIC),
    plugin::pvar("answers_queued", "answers to peers that waited for room in a transport", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, answers_queued)),
    plugin::pvar("cancelled", "sends and receives that this process took back before they matched", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, cancelled)),
    plugin::pvar("truncated", "receives that were shorter than their message", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, truncated), ASHLAR_USER_BASIC),
    plugin::pvar("lost", "unexpected messages for whose data there was no memory", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, lost), ASHLAR_USER_BASIC),
    plugin::pvar("links", "connections to peers that messages were sent over; with several lanes, of each one",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, links)),
    plugin::pvar("native_sent", "messages sent that the network matches (p2p.matching)", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, native_sent), ASHLAR_TUNER_BASIC),
    plugin::pvar("native_announced", "of these, those that were sent by rendezvous", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, native_announced)),
    plugin::pvar("native_received", "receives that the network has matched", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, native_received), ASHLAR_TUNER_BASIC),
    plugin::pvar("native_claimed", "messages taken out of the network to be matched here, for wildcards and probes",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, native_claimed), ASHLAR_TUNER_BASIC),
    plugin::pvar("native_filed", "receives matched here, among messages that were taken out of the network",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, native_filed), ASHLAR_TUNER_BASIC),
};

/// Pools and lists of a lane, whose block is its LaneState; defined in pvars.cc.
extern const std::span<const ashlar_pvar_row> pool_rows;
/// Of each communicator; the block only says that lanes are there.
extern const std::span<const ashlar_pvar_row> comm_rows;

}  // namespace ashlar::p2p
