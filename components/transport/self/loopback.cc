#include "components/transport/self/loopback.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "components/transport/self/remote.h"
#include "framework/plugin/pvar_row.h"
#include "framework/plugin/transport_component.h"
#include "framework/plugin/transport_fail.h"

namespace ashlar::loopback {
namespace {

constexpr std::uint32_t kMaxShort = 1024;
constexpr std::uint32_t kMaxBcopy = 64 << 10;

struct Address {
  std::uint64_t word[4];
};

Endpoint& self(ashlar_endpoint* e) { return *static_cast<Endpoint*>(e); }

constexpr std::size_t padded(std::size_t n) { return (n + 15) / 16 * 16; }

ashlar_result am_short(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const void* data,
                       std::uint32_t length) {
  Interface& iface = *self(e).iface;
  if (length > kMaxShort) return plugin::fail_too_long(iface.host(), self(e).peer, length, kMaxShort);
  std::byte* to = iface.append(id, h0, h1, length);
  if (!to) return ASHLAR_AGAIN;
  if (length) std::memcpy(to, data, length);
  return ASHLAR_OK;
}

ashlar_result am_bcopy(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, ashlar_fill fill,
                       void* argument, std::uint32_t length) {
  Interface& iface = *self(e).iface;
  if (length > kMaxBcopy) return plugin::fail_too_long(iface.host(), self(e).peer, length, kMaxBcopy);
  std::byte* to = iface.append(id, h0, h1, length);
  if (!to) return ASHLAR_AGAIN;
  for (std::size_t done = 0; done < length;) {
    const std::size_t n = fill(argument, to + done, length - done);
    if (n == 0) {
      iface.take_back(length);
      return plugin::fail_too_short(iface.host(), self(e).peer, done, length);
    }
    done += n;
  }
  return ASHLAR_OK;
}

void wake(ashlar_endpoint*) {}  // the caller, its owner, is awake

constexpr ashlar_endpoint_ops kEndpointOps = {.size = sizeof kEndpointOps,
                                              .am_short = am_short,
                                              .am_bcopy = am_bcopy,
                                              .get = get,
                                              .put = put,
                                              .wake = wake,
                                              .posts = nullptr,
                                              .fate = nullptr,
                                              .getv = getv,
                                              .putv = putv,
                                              .amo = amo,
                                              .flush = nullptr,
                                              .measured = nullptr};

using Counters = Interface::Counters;
constexpr ashlar_pvar_row kRows[] = {
    plugin::pvar("sent", "messages of this process to itself, those of protocols included", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, sent), ASHLAR_TUNER_BASIC),
    plugin::pvar("sent_bytes", "bytes of data in these", ASHLAR_PVAR_AGGREGATE, offsetof(Counters, bytes),
                 ASHLAR_TUNER_BASIC),
    plugin::pvar("full", "sends put off because the queue was full (transport.self.queue_bytes)", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, full)),
    plugin::pvar("queued", "bytes of messages to itself that wait, with headers", ASHLAR_PVAR_LEVEL,
                 offsetof(Counters, queued.now)),
    plugin::pvar("queued_peak", "the most of these at one time; with several lanes, the sum of each one's most",
                 ASHLAR_PVAR_HIGHWATERMARK, offsetof(Counters, queued.most)),
};

}  // namespace

Interface::Interface(const ashlar_host& host, const Config& config, const ashlar_transport_context& context)
    : host_(host), config_(config), context_(context) {
  ops = &kInterfaceOps;
  plugin::show_block(host, "transport", "self", kRows, &counters);
}

Interface::~Interface() { plugin::hide_block(host_, kRows, &counters); }

// The address answers only to the interface that wrote it: pointer and cookie of this very object.
ashlar_result Interface::write_address(void* out, std::uint32_t* length) const {
  const Address a{{0x666c6573'68736141, reinterpret_cast<std::uint64_t>(this), context_.job_cookie, context_.self}};
  std::memcpy(out, &a, sizeof a);
  *length = sizeof a;
  return ASHLAR_OK;
}

ashlar_result Interface::connect(std::uint32_t peer, const void* address, std::uint32_t length, ashlar_endpoint** out) {
  Address own;
  std::uint32_t own_length;
  (void)write_address(&own, &own_length);
  if (length != own_length) return plugin::fail_address_size(host_, peer, length, own_length);
  if (std::memcmp(address, &own, length) != 0) {
    const ashlar_fact processes[] = {{.name = "peer", .text = nullptr, .number = peer},
                                     {.name = "self", .text = nullptr, .number = context_.self}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "loopback.other_process", processes, std::size(processes));
  }
  auto ep = std::make_unique<Endpoint>();
  ep->ops = &kEndpointOps;
  ep->capabilities = ASHLAR_CAP_GET | ASHLAR_CAP_PUT | ASHLAR_CAP_AMO;
  ep->max_short = kMaxShort;
  ep->max_bcopy = kMaxBcopy;
  ep->peer = peer;
  ep->latency_ns = 50;
  ep->bandwidth_copy = 8;
  ep->bandwidth_get = 16;
  ep->iface = this;
  *out = ep.get();
  endpoints_.push_back(std::move(ep));
  return ASHLAR_OK;
}

void Interface::disconnect(const Endpoint& endpoint) {
  std::erase_if(endpoints_, [&endpoint](const auto& e) { return e.get() == &endpoint; });
}

std::byte* Interface::append(std::uint8_t id, std::uint64_t h0, std::uint64_t h1, std::uint32_t length) {
  const std::size_t at = arriving_.size();
  const std::size_t bytes = sizeof(Record) + padded(length);
  if (at > 0 && at + bytes > config_.queue_bytes) {
    counters.full.add();
    return nullptr;
  }
  arriving_.resize(at + bytes);
  counters.sent.add();
  counters.bytes.add(length);
  counters.queued.raise(bytes);
  const Record record{.h0 = h0, .h1 = h1, .length = length, .id = id};
  std::memcpy(arriving_.data() + at, &record, sizeof record);
  return arriving_.data() + at + sizeof record;
}

void Interface::take_back(std::uint32_t length) {
  const auto bytes = static_cast<std::ptrdiff_t>(sizeof(Record) + padded(length));
  arriving_.erase(arriving_.end() - bytes, arriving_.end());
  counters.sent.subtract();
  counters.bytes.subtract(length);
  counters.queued.lower(static_cast<std::uint64_t>(bytes));
}

unsigned Interface::progress() {
  if (arriving_.empty() || !delivering_.empty()) return 0;
  delivering_.swap(arriving_);
  unsigned count = 0;
  for (std::size_t at = 0; at < delivering_.size(); ++count) {
    Record record;
    std::memcpy(&record, delivering_.data() + at, sizeof record);
    const std::byte* data = delivering_.data() + at + sizeof record;
    const ashlar_am am{.h0 = record.h0,
                       .h1 = record.h1,
                       .data = data,
                       .length = record.length,
                       .peer = context_.self,
                       .id = record.id};
    context_.deliver(context_.lane_context, &am);
    at += sizeof record + padded(record.length);
  }
  counters.queued.lower(delivering_.size());
  delivering_.clear();
  return count;
}

ashlar_result Interface::expose(const void* address, std::uint64_t length, int kind, ashlar_key* out) const {
  if (kind != ASHLAR_MEMORY_HOST) return plugin::fail_memory_kind(host_, kind);
  *out = key_of(address, length);
  return ASHLAR_OK;
}

namespace {

constexpr ashlar_iface_ops functions() {
  ashlar_iface_ops all = plugin::interface_functions<Interface, Endpoint>();
  all.attributes = attributes;
  return all;
}

}  // namespace

constexpr ashlar_iface_ops kInterfaceOps = functions();

}  // namespace ashlar::loopback
