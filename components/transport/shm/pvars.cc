#include "components/transport/shm/pvars.h"

#include <cstddef>
#include <iterator>

#include "components/transport/shm/ring.h"
#include "framework/plugin/pvar_row.h"

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

template <std::size_t count>
void add(const ashlar_host& host, const ashlar_pvar_row (&rows)[count], const void* block) {
  if (ASHLAR_HAS(&host, add_pvar_block) && host.add_pvar_block != nullptr)
    host.add_pvar_block("transport", "shm", rows, count, block);
}

void remove(const ashlar_host& host, const ashlar_pvar_row* rows, const void* block) {
  if (ASHLAR_HAS(&host, remove_pvar_block) && host.remove_pvar_block != nullptr) host.remove_pvar_block(rows, block);
}

}  // namespace

void introduce(const ashlar_host& host) {
  add(host, kRingRows, nullptr);
  add(host, kReceivedRows, nullptr);
}

void show(const ashlar_host& host, const Outbound& ring) { add(host, kRingRows, &ring); }
void hide(const ashlar_host& host, const Outbound& ring) { remove(host, kRingRows, &ring); }
void show(const ashlar_host& host, const Inbound& ring) { add(host, kReceivedRows, &ring); }
void hide(const ashlar_host& host, const Inbound& ring) { remove(host, kReceivedRows, &ring); }

}  // namespace ashlar::shm
