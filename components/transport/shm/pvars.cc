#include "components/transport/shm/pvars.h"

#include <cstddef>

#include "components/transport/shm/counters.h"
#include "components/transport/shm/ring.h"
#include "framework/plugin/pvar_row.h"
#include "framework/plugin/transport_component.h"

namespace ashlar::shm {
namespace {

template <auto value>
void read_ring(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = (static_cast<const Outbound*>(block)->*value)();
}

void read_ring_bytes(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = static_cast<const Outbound*>(block)->lines() * sizeof(Line);
}

constexpr ashlar_pvar_row kRingRows[] = {
    plugin::computed_pvar(
        "sent_ring_bytes",
        "bytes of rings of other processes that messages took, with headers and padding; a line has 64",
        ASHLAR_PVAR_AGGREGATE, read_ring_bytes, ASHLAR_TUNER_BASIC),
    plugin::computed_pvar("sent_long", "messages put into rings that were longer than one line", ASHLAR_PVAR_COUNTER,
                          read_ring<&Outbound::longer_records>),
    plugin::computed_pvar("sent_long_bytes", "bytes of data in these", ASHLAR_PVAR_AGGREGATE,
                          read_ring<&Outbound::longer_bytes>),
};

void read_received(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = static_cast<const Inbound*>(block)->lines() * sizeof(Line);
}

constexpr ashlar_pvar_row kReceivedRows[] = {
    plugin::computed_pvar("received_ring_bytes", "bytes of rings that were taken in, with headers and padding",
                          ASHLAR_PVAR_AGGREGATE, read_received, ASHLAR_TUNER_BASIC),
};

const std::uint64_t* value_of(const std::atomic<std::uint64_t>& counter) {
  return reinterpret_cast<const std::uint64_t*>(&counter);
}

void add_pvars(const ashlar_host& host) {
  static const ashlar_pvar rows[] = {
      {"rings", "rings of other processes that send to this one", ASHLAR_PVAR_LEVEL, value_of(counters.rings)},
      {"ring_memory", "bytes of these rings", ASHLAR_PVAR_LEVEL, value_of(counters.ring_bytes)},
      {"full", "sends put off because the ring was full", ASHLAR_PVAR_COUNTER, value_of(counters.full)},
      {"gets", "single copies begun by this process", ASHLAR_PVAR_COUNTER, value_of(counters.gets)},
      {"gets_shared", "single copies in which the owner may copy too", ASHLAR_PVAR_COUNTER,
       value_of(counters.gets_shared)},
      {"chunks_helped", "chunks this process copied for readers of its memory", ASHLAR_PVAR_COUNTER,
       value_of(counters.chunks_helped)},
      {"sleeps", "times this process went to sleep waiting for messages", ASHLAR_PVAR_COUNTER,
       value_of(counters.sleeps)},
      {"descriptor_clients", "peers that are being passed the descriptor (transport.shm.descriptor_clients)",
       ASHLAR_PVAR_LEVEL, value_of(counters.clients)},
      {"descriptor_clients_most", "the most such peers at one time on one lane, since the start", ASHLAR_PVAR_LEVEL,
       value_of(counters.clients_most)},
      {"descriptors_passed", "peers that were passed the descriptor", ASHLAR_PVAR_COUNTER, value_of(counters.passed)},
      {"strangers",
       "connections that were closed: another user's, or without the request of a peer; datagrams of another user",
       ASHLAR_PVAR_COUNTER, value_of(counters.turned_away)},
  };
  if (host.add_pvars) host.add_pvars("transport", "shm", rows, sizeof rows / sizeof rows[0]);
}

}  // namespace

constinit Counters counters;  // read through the pointers above for the life of the process

void introduce(const ashlar_host& host) {
  add_pvars(host);
  plugin::show_block(host, "transport", "shm", kRingRows, nullptr);
  plugin::show_block(host, "transport", "shm", kReceivedRows, nullptr);
}

void show(const ashlar_host& host, const Outbound& ring) {
  plugin::show_block(host, "transport", "shm", kRingRows, &ring);
}
void hide(const ashlar_host& host, const Outbound& ring) { plugin::hide_block(host, kRingRows, &ring); }
void show(const ashlar_host& host, const Inbound& ring) {
  plugin::show_block(host, "transport", "shm", kReceivedRows, &ring);
}
void hide(const ashlar_host& host, const Inbound& ring) { plugin::hide_block(host, kReceivedRows, &ring); }

}  // namespace ashlar::shm
