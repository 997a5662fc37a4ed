#include <cstddef>

#include "components/transport/tcp/counters.h"
#include "framework/plugin/pvar_row.h"
#include "framework/plugin/transport_component.h"

namespace ashlar::tcp {
namespace {

using plugin::pvar;

constexpr ashlar_pvar_row kRows[] = {
    pvar("connections", "connections to other processes (transport.tcp.connections)", ASHLAR_PVAR_LEVEL,
         offsetof(Counters, connections.now), ASHLAR_TUNER_BASIC),
    pvar("connections_peak", "the most of these at one time; with several lanes, the sum of each one's most",
         ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, connections.most)),
    pvar("dialled", "connections that this process made", ASHLAR_PVAR_COUNTER, offsetof(Counters, dialled)),
    pvar("accepted", "connections of other processes that this one took", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, accepted)),
    pvar("retries", "times all addresses of a peer were tried again", ASHLAR_PVAR_COUNTER, offsetof(Counters, retries)),
    pvar("closed_idle", "connections closed to keep transport.tcp.connections", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, closed_idle)),
    pvar("strangers",
         "connections to this process that have not proved yet that they come from the job "
         "(transport.tcp.strangers)",
         ASHLAR_PVAR_LEVEL, offsetof(Counters, strangers.now)),
    pvar("strangers_peak", "the most of these at one time; with several lanes, the sum of each one's most",
         ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, strangers.most)),
    pvar("refused", "connections to this process that did not prove it", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, refused)),
    pvar("sent", "messages sent, those of protocols included", ASHLAR_PVAR_COUNTER, offsetof(Counters, sent),
         ASHLAR_TUNER_BASIC),
    pvar("sent_bytes", "bytes of data in these", ASHLAR_PVAR_AGGREGATE, offsetof(Counters, sent_bytes),
         ASHLAR_TUNER_BASIC),
    pvar("coalesced", "messages that left together with others", ASHLAR_PVAR_COUNTER, offsetof(Counters, coalesced)),
    pvar("writes", "system calls that sent", ASHLAR_PVAR_COUNTER, offsetof(Counters, writes)),
    pvar("full", "sends put off because the buffer of the peer was full (transport.tcp.send_buffer)",
         ASHLAR_PVAR_COUNTER, offsetof(Counters, full)),
    pvar("buffered", "bytes that wait for connections or for room in them", ASHLAR_PVAR_LEVEL,
         offsetof(Counters, buffered.now)),
    pvar("buffered_peak", "the most of these at one time; with several lanes, the sum of each one's most",
         ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, buffered.most)),
    pvar("kept", "bytes of messages that have left and are kept until their receivers have them (transport.tcp.keep)",
         ASHLAR_PVAR_LEVEL, offsetof(Counters, kept.now)),
    pvar("kept_peak", "the most of these at one time; with several lanes, the sum of each one's most",
         ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, kept.most)),
    pvar("acknowledgements", "frames sent only to say what has been received", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, acknowledgements)),
    pvar("broken", "connections that broke, or whose process had ended", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, broken)),
    pvar("resumed", "of these, connections that were made again and went on (transport.tcp.patience)",
         ASHLAR_PVAR_COUNTER, offsetof(Counters, resumed), ASHLAR_TUNER_BASIC),
    pvar("skipped", "messages that came a second time after that, and were dropped", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, skipped)),
    pvar("received", "messages received, those of protocols included", ASHLAR_PVAR_COUNTER,
         offsetof(Counters, received), ASHLAR_TUNER_BASIC),
    pvar("received_bytes", "bytes of data in these", ASHLAR_PVAR_AGGREGATE, offsetof(Counters, received_bytes),
         ASHLAR_TUNER_BASIC),
    pvar("reads", "system calls that received", ASHLAR_PVAR_COUNTER, offsetof(Counters, reads)),
    pvar("looks", "looks at the sockets", ASHLAR_PVAR_COUNTER, offsetof(Counters, looks)),
    pvar("empty_looks", "of these, looks that found nothing", ASHLAR_PVAR_COUNTER, offsetof(Counters, empty_looks)),
    pvar("gets", "messages fetched from the memory of their sender", ASHLAR_PVAR_COUNTER, offsetof(Counters, gets)),
    pvar("get_bytes", "bytes of data in these", ASHLAR_PVAR_AGGREGATE, offsetof(Counters, get_bytes)),
    pvar("copied_bytes", "of these, bytes that were not read into their memory but copied there", ASHLAR_PVAR_AGGREGATE,
         offsetof(Counters, copied_bytes)),
    pvar("served_bytes", "bytes that peers fetched from the memory of this process", ASHLAR_PVAR_AGGREGATE,
         offsetof(Counters, served_bytes)),
    pvar("short_paths", "connections on paths so short that the bytes under way are bounded (transport.tcp.in_flight)",
         ASHLAR_PVAR_LEVEL, offsetof(Counters, short_paths.now)),
    pvar("striped", "of the messages fetched, those that were read over several connections (transport.tcp.rails)",
         ASHLAR_PVAR_COUNTER, offsetof(Counters, striped), ASHLAR_TUNER_BASIC),
    pvar("rails", "connections over which these are read, the first one to each peer not counted", ASHLAR_PVAR_LEVEL,
         offsetof(Counters, rails.now), ASHLAR_TUNER_BASIC),
    pvar("rails_peak", "the most of these at one time; with several lanes, the sum of each one's most",
         ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, rails.most)),
    pvar("rails_lost", "of these, connections that broke; what they had not brought came over others",
         ASHLAR_PVAR_COUNTER, offsetof(Counters, rails_lost), ASHLAR_TUNER_BASIC),
    pvar("rails_stalled", "times a connection brought nothing while others did, which brought its part",
         ASHLAR_PVAR_COUNTER, offsetof(Counters, rails_stalled)),
    pvar("rail0_bytes", "bytes of these messages that came over the first connection to their sender",
         ASHLAR_PVAR_AGGREGATE, offsetof(Counters, rail_bytes[0]), ASHLAR_TUNER_BASIC),
    pvar("rail1_bytes", "bytes of these messages that came over the second one", ASHLAR_PVAR_AGGREGATE,
         offsetof(Counters, rail_bytes[1]), ASHLAR_TUNER_BASIC),
    pvar("rail2_bytes", "bytes of these messages that came over the third one", ASHLAR_PVAR_AGGREGATE,
         offsetof(Counters, rail_bytes[2])),
    pvar("rail3_bytes", "bytes of these messages that came over the fourth one", ASHLAR_PVAR_AGGREGATE,
         offsetof(Counters, rail_bytes[3])),
};

}  // namespace

void show(const ashlar_host& host, const Counters* counters) {
  plugin::show_block(host, "transport", "tcp", kRows, counters);
}
void hide(const ashlar_host& host, const Counters& counters) { plugin::hide_block(host, kRows, &counters); }

}  // namespace ashlar::tcp
