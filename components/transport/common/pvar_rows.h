#pragma once
#include <cstddef>

#include "components/transport/common/counters.h"
#include "framework/plugin/pvar_row.h"
#include "framework/plugin/transport_component.h"

// The performance variables of every transport over a network library: what Counters holds.

/// Initializers of ashlar_pvar_row. `component` and `library`: their names, as literals.
#define ASHLAR_NETWORK_PVARS(component, library)                                                                      \
  ashlar::plugin::pvar("under_way", "sends and reads that " library " has (transport." component ".sends)",           \
                       ASHLAR_PVAR_LEVEL, offsetof(ashlar::network::Counters, under_way.now), ASHLAR_TUNER_BASIC),    \
      ashlar::plugin::pvar("under_way_peak",                                                                          \
                           "the most of these at one time; with several lanes, the sum of each one's most",           \
                           ASHLAR_PVAR_HIGHWATERMARK, offsetof(ashlar::network::Counters, under_way.most)),           \
      ashlar::plugin::pvar("buffered",                                                                                \
                           "bytes of messages that wait here or are under way (transport." component ".send_buffer)", \
                           ASHLAR_PVAR_LEVEL, offsetof(ashlar::network::Counters, buffered.now)),                     \
      ashlar::plugin::pvar("buffered_peak",                                                                           \
                           "the most of these at one time; with several lanes, the sum of each one's most",           \
                           ASHLAR_PVAR_HIGHWATERMARK, offsetof(ashlar::network::Counters, buffered.most)),            \
      ashlar::plugin::pvar("regions", "regions of memory for reads, registered with " library, ASHLAR_PVAR_LEVEL,     \
                           offsetof(ashlar::network::Counters, regions.now)),                                         \
      ashlar::plugin::pvar("regions_peak",                                                                            \
                           "the most of these at one time; with several lanes, the sum of each one's most",           \
                           ASHLAR_PVAR_HIGHWATERMARK, offsetof(ashlar::network::Counters, regions.most)),             \
      ashlar::plugin::pvar("registered",                                                                              \
                           "bytes of these regions (transport." component                                             \
                           ".registered_bytes bounds those that no message uses)",                                    \
                           ASHLAR_PVAR_LEVEL, offsetof(ashlar::network::Counters, registered.now)),                   \
      ashlar::plugin::pvar("registered_peak",                                                                         \
                           "the most of these at one time; with several lanes, the sum of each one's most",           \
                           ASHLAR_PVAR_HIGHWATERMARK, offsetof(ashlar::network::Counters, registered.most)),          \
      ashlar::plugin::pvar("registrations", "regions of memory that were registered", ASHLAR_PVAR_COUNTER,            \
                           offsetof(ashlar::network::Counters, registrations)),                                       \
      ashlar::plugin::pvar("registered_again", "uses of memory that was registered already", ASHLAR_PVAR_COUNTER,     \
                           offsetof(ashlar::network::Counters, registered_again)),                                    \
      ashlar::plugin::pvar("peers",                                                                                   \
                           "processes whose addresses are known here; those of another job that it has parted from, " \
                           "and that have left, are not",                                                             \
                           ASHLAR_PVAR_LEVEL, offsetof(ashlar::network::Counters, peers.now)),                        \
      ashlar::plugin::pvar("peers_peak",                                                                              \
                           "the most of these at one time; with several lanes, the sum of each one's most",           \
                           ASHLAR_PVAR_HIGHWATERMARK, offsetof(ashlar::network::Counters, peers.most)),               \
      ashlar::plugin::pvar("greeted", "processes that have proved that they come from the job", ASHLAR_PVAR_COUNTER,  \
                           offsetof(ashlar::network::Counters, greeted)),                                             \
      ashlar::plugin::pvar("refused", "frames that were dropped because they proved nothing", ASHLAR_PVAR_COUNTER,    \
                           offsetof(ashlar::network::Counters, refused)),                                             \
      ashlar::plugin::pvar("again", "operations that " library " had no room for, or no connection yet",              \
                           ASHLAR_PVAR_COUNTER, offsetof(ashlar::network::Counters, again)),                          \
      ashlar::plugin::pvar(                                                                                           \
          "full", "sends put off because the buffer of the peer was full (transport." component ".send_buffer)",      \
          ASHLAR_PVAR_COUNTER, offsetof(ashlar::network::Counters, full)),                                            \
      ashlar::plugin::pvar("sent", "messages sent, those of protocols included", ASHLAR_PVAR_COUNTER,                 \
                           offsetof(ashlar::network::Counters, sent), ASHLAR_TUNER_BASIC),                            \
      ashlar::plugin::pvar("sent_bytes", "bytes of data in these", ASHLAR_PVAR_AGGREGATE,                             \
                           offsetof(ashlar::network::Counters, sent_bytes), ASHLAR_TUNER_BASIC),                      \
      ashlar::plugin::pvar("received", "messages received, those of protocols included", ASHLAR_PVAR_COUNTER,         \
                           offsetof(ashlar::network::Counters, received), ASHLAR_TUNER_BASIC),                        \
      ashlar::plugin::pvar("received_bytes", "bytes of data in these", ASHLAR_PVAR_AGGREGATE,                         \
                           offsetof(ashlar::network::Counters, received_bytes), ASHLAR_TUNER_BASIC),                  \
      ashlar::plugin::pvar("injected", "messages that " library " copied at once, without telling their end",         \
                           ASHLAR_PVAR_COUNTER, offsetof(ashlar::network::Counters, injected)),                       \
      ashlar::plugin::pvar("coalesced",                                                                               \
                           "messages that left together with others (transport." component ".coalesce_after)",        \
                           ASHLAR_PVAR_COUNTER, offsetof(ashlar::network::Counters, coalesced)),                      \
      ashlar::plugin::pvar("looks", "looks at what " library " has", ASHLAR_PVAR_COUNTER,                             \
                           offsetof(ashlar::network::Counters, looks)),                                               \
      ashlar::plugin::pvar("empty_looks", "of these, looks that found nothing", ASHLAR_PVAR_COUNTER,                  \
                           offsetof(ashlar::network::Counters, empty_looks)),                                         \
      ashlar::plugin::pvar("gets", "messages read from the memory of their sender", ASHLAR_PVAR_COUNTER,              \
                           offsetof(ashlar::network::Counters, gets)),                                                \
      ashlar::plugin::pvar("get_bytes", "bytes of data in these", ASHLAR_PVAR_AGGREGATE,                              \
                           offsetof(ashlar::network::Counters, get_bytes)),                                           \
      ashlar::plugin::pvar("puts", "operations that wrote the memory of peers", ASHLAR_PVAR_COUNTER,                  \
                           offsetof(ashlar::network::Counters, puts)),                                                \
      ashlar::plugin::pvar("put_bytes", "bytes of data in these", ASHLAR_PVAR_AGGREGATE,                              \
                           offsetof(ashlar::network::Counters, put_bytes)),                                           \
      ashlar::plugin::pvar(                                                                                           \
          "questions", "questions to hosts whether a process is there (transport." component ".liveness_interval)",   \
          ASHLAR_PVAR_COUNTER, offsetof(ashlar::network::Counters, questions))

/// Those of a library that matches tags.
#define ASHLAR_NETWORK_TAG_PVARS(component, library)                                                               \
  ashlar::plugin::pvar("tag_receives", "receives that " library " matches (transport." component ".tag_receives)", \
                       ASHLAR_PVAR_LEVEL, offsetof(ashlar::network::Counters, tag_receives.now)),                  \
      ashlar::plugin::pvar("tag_receives_peak",                                                                    \
                           "the most of these at one time; with several lanes, the sum of each one's most",        \
                           ASHLAR_PVAR_HIGHWATERMARK, offsetof(ashlar::network::Counters, tag_receives.most)),     \
      ashlar::plugin::pvar("tags_sent", "messages sent that " library " matches at their receiver",                \
                           ASHLAR_PVAR_COUNTER, offsetof(ashlar::network::Counters, tags_sent)),                   \
      ashlar::plugin::pvar("claims", "questions to " library " whether there is a message without a receive",      \
                           ASHLAR_PVAR_COUNTER, offsetof(ashlar::network::Counters, claims)),                      \
      ashlar::plugin::pvar("claimed", "messages that were taken from " library " to be matched by the kernel",     \
                           ASHLAR_PVAR_COUNTER, offsetof(ashlar::network::Counters, claimed))

/// Those of a library whose fabrics have rails.
#define ASHLAR_NETWORK_RAIL_PVARS(component, library)                                                                 \
  ashlar::plugin::pvar(                                                                                               \
      "striped", "of the messages read, those that were read over several devices (transport." component ".rails)",   \
      ASHLAR_PVAR_COUNTER, offsetof(ashlar::network::Counters, striped), ASHLAR_TUNER_BASIC),                         \
      ashlar::plugin::pvar("rails", "devices of " library " over which these are read, the first one not counted",    \
                           ASHLAR_PVAR_LEVEL, offsetof(ashlar::network::Counters, rails.now), ASHLAR_TUNER_BASIC),    \
      ashlar::plugin::pvar("rails_peak",                                                                              \
                           "the most of these at one time; with several lanes, the sum of each one's most",           \
                           ASHLAR_PVAR_HIGHWATERMARK, offsetof(ashlar::network::Counters, rails.most)),               \
      ashlar::plugin::pvar("rails_lost", "times a device failed to bring its part, which came over others",           \
                           ASHLAR_PVAR_COUNTER, offsetof(ashlar::network::Counters, rails_lost), ASHLAR_TUNER_BASIC), \
      ashlar::plugin::pvar("rails_stalled", "of these, times it brought nothing while others did",                    \
                           ASHLAR_PVAR_COUNTER, offsetof(ashlar::network::Counters, rails_stalled)),                  \
      ashlar::plugin::pvar("rail0_bytes", "bytes of these messages that came over the first device",                  \
                           ASHLAR_PVAR_AGGREGATE, offsetof(ashlar::network::Counters, rail_bytes[0]),                 \
                           ASHLAR_TUNER_BASIC),                                                                       \
      ashlar::plugin::pvar("rail1_bytes", "bytes of these messages that came over the second one",                    \
                           ASHLAR_PVAR_AGGREGATE, offsetof(ashlar::network::Counters, rail_bytes[1]),                 \
                           ASHLAR_TUNER_BASIC),                                                                       \
      ashlar::plugin::pvar("rail2_bytes", "bytes of these messages that came over the third one",                     \
                           ASHLAR_PVAR_AGGREGATE, offsetof(ashlar::network::Counters, rail_bytes[2])),                \
      ashlar::plugin::pvar("rail3_bytes", "bytes of these messages that came over the fourth one",                    \
                           ASHLAR_PVAR_AGGREGATE, offsetof(ashlar::network::Counters, rail_bytes[3]))
