#include <cstddef>

#include "components/transport/ofi/counters.h"
#include "framework/plugin/pvar_row.h"
#include "framework/plugin/transport_component.h"

namespace ashlar::ofi {
namespace {

using plugin::pvar;

constexpr ashlar_pvar_row kRows[] = {
    pvar("under_way", "sends and reads that libfabric has (transport.ofi.sends)", ASHLAR_PVAR_LEVEL,
         offsetof(Counters, under_way.now), ASHLAR_TUNER_BASIC),
    pvar("under_way_peak", "the most of these at one time; with several lanes, the sum of each one's most",
         ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, under_way.most)),
    pvar("buffered", "bytes of messages that wait here or are under way (transport.ofi.send_buffer)", ASHLAR_PVAR_LEVEL,
         offsetof(Counters, buffered.now)),
    pvar("buffered_peak", "the most of these at one time; with several lanes, the sum of each one's most",
         ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, buffered.most)),
    pvar("regions", "regions of memory that peers may read, registered with libfabric", ASHLAR_PVAR_LEVEL,
         offsetof(Counters, regions.now)),
    pvar("regions_peak", "the most of these at one time; with several lanes, the sum of each one's most",
         ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, regions.most)),
    pvar("greeted", "processes that have proved that they come from the job", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, greeted)),
    pvar("refused", "frames that were dropped because they proved nothing", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, refused)),
    pvar("again", "operations that libfabric had no room for, or no connection yet", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, again)),
    pvar("full", "sends put off because the buffer of the peer was full (transport.ofi.send_buffer)",
         ASHLAR_PVAR_COUNTER, offsetof(Counters, full)),
    pvar("sent", "messages sent, those of protocols included", ASHLAR_PVAR_COUNTER, offsetof(Counters, sent),
         ASHLAR_TUNER_BASIC),
    pvar("sent_bytes", "bytes of data in these", ASHLAR_PVAR_AGGREGATE, offsetof(Counters, sent_bytes),
         ASHLAR_TUNER_BASIC),
    pvar("received", "messages received, those of protocols included", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, received), ASHLAR_TUNER_BASIC),
    pvar("received_bytes", "bytes of data in these", ASHLAR_PVAR_AGGREGATE, offsetof(Counters, received_bytes),
         ASHLAR_TUNER_BASIC),
    pvar("injected", "messages that libfabric copied at once (fi_inject)", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, injected)),
    pvar("coalesced", "messages that left together with others (transport.ofi.coalesce_after)", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, coalesced)),
    pvar("looks", "looks at the completion queue", ASHLAR_PVAR_COUNTER, offsetof(Counters, looks)),
    pvar("empty_looks", "of these, looks that found nothing", ASHLAR_PVAR_COUNTER, offsetof(Counters, empty_looks)),
    pvar("gets", "messages read from the memory of their sender", ASHLAR_PVAR_COUNTER, offsetof(Counters, gets)),
    pvar("get_bytes", "bytes of data in these", ASHLAR_PVAR_AGGREGATE, offsetof(Counters, get_bytes)),
    pvar("questions", "questions to hosts whether a process is there (transport.ofi.liveness_interval)",
         ASHLAR_PVAR_COUNTER, offsetof(Counters, questions)),
};

}  // namespace

void show(const ashlar_host& host, const Counters* counters) { plugin::show_block(host, "ofi", kRows, counters); }
void hide(const ashlar_host& host, const Counters& counters) { plugin::hide_block(host, kRows, &counters); }

}  // namespace ashlar::ofi
