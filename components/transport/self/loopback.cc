#include "components/transport/self/loopback.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "components/transport/self/remote.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::loopback {
namespace {

constexpr std::uint32_t kMaxShort = 1024;
constexpr std::uint32_t kMaxBcopy = 64 << 10;

struct Address {
  std::uint64_t word[4];
};

Interface& self(ashlar_iface* i) { return *static_cast<Interface*>(i); }
Endpoint& self(ashlar_endpoint* e) { return *static_cast<Endpoint*>(e); }

constexpr std::size_t padded(std::size_t n) { return (n + 15) / 16 * 16; }

[[gnu::cold]] ashlar_result too_long(const Endpoint& ep, std::uint32_t length, std::uint32_t limit) {
  const ashlar_fact sizes[] = {{.name = "peer", .text = nullptr, .number = ep.peer},
                               {.name = "bytes", .text = nullptr, .number = length},
                               {.name = "most", .text = nullptr, .number = limit}};
  return ashlar_fail_with(&ep.iface->host(), ASHLAR_ERR_ARG, "transport.too_long", sizes, std::size(sizes));
}

ashlar_result am_short(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const void* data,
                       std::uint32_t length) {
  Interface& iface = *self(e).iface;
  if (length > kMaxShort) return too_long(self(e), length, kMaxShort);
  std::byte* to = iface.append(id, h0, h1, length);
  if (!to) return ASHLAR_AGAIN;
  if (length) std::memcpy(to, data, length);
  return ASHLAR_OK;
}

ashlar_result am_bcopy(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, ashlar_fill fill,
                       void* argument, std::uint32_t length) {
  Interface& iface = *self(e).iface;
  if (length > kMaxBcopy) return too_long(self(e), length, kMaxBcopy);
  std::byte* to = iface.append(id, h0, h1, length);
  if (!to) return ASHLAR_AGAIN;
  for (std::size_t done = 0; done < length;) {
    const std::size_t n = fill(argument, to + done, length - done);
    if (n == 0) {
      iface.take_back(length);
      const ashlar_fact sizes[] = {{.name = "peer", .text = nullptr, .number = self(e).peer},
                                   {.name = "bytes_got", .text = nullptr, .number = static_cast<std::int64_t>(done)},
                                   {.name = "bytes_wanted", .text = nullptr, .number = length}};
      return ashlar_fail_with(&iface.host(), ASHLAR_ERR_ARG, "transport.too_short", sizes, std::size(sizes));
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
                                              .flush = nullptr};

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
  if (ASHLAR_HAS(&host, add_pvar_block) && host.add_pvar_block != nullptr)
    host.add_pvar_block("transport", "self", kRows, std::size(kRows), &counters);
}

Interface::~Interface() {
  if (ASHLAR_HAS(&host_, remove_pvar_block) && host_.remove_pvar_block != nullptr)
    host_.remove_pvar_block(kRows, &counters);
}

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
  if (length != own_length) {
    const ashlar_fact sizes[] = {{.name = "peer", .text = nullptr, .number = peer},
                                 {.name = "bytes_got", .text = nullptr, .number = length},
                                 {.name = "bytes_wanted", .text = nullptr, .number = own_length}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "transport.address_size", sizes, std::size(sizes));
  }
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

void Interface::disconnect(ashlar_endpoint* endpoint) {
  std::erase_if(endpoints_, [endpoint](const auto& e) { return e.get() == endpoint; });
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
  if (kind != ASHLAR_MEMORY_HOST) {
    const ashlar_fact given = {.name = "kind", .text = nullptr, .number = kind};
    return ashlar_fail_with(&host_, ASHLAR_ERR_UNSUPPORTED_OPERATION, "transport.memory_kind", &given, 1);
  }
  *out = key_of(address, length);
  return ASHLAR_OK;
}

const ashlar_iface_ops kInterfaceOps = {
    .size = sizeof kInterfaceOps,
    .address = [](ashlar_iface* i, void* out, std::uint32_t* length) { return self(i).write_address(out, length); },
    .connect = [](ashlar_iface* i, std::uint32_t peer, const void* address, std::uint32_t length,
                  ashlar_endpoint** out) { return self(i).connect(peer, address, length, out); },
    .disconnect = [](ashlar_iface* i, ashlar_endpoint* e) { self(i).disconnect(e); },
    .progress = [](ashlar_iface* i) { return self(i).progress(); },
    .expose = [](ashlar_iface* i, const void* address, std::uint64_t length, int kind,
                 ashlar_key* out) { return self(i).expose(address, length, kind, out); },
    .unexpose = [](ashlar_iface*, const ashlar_key*) {},
    // Nothing arrives while the process sleeps, so there is nothing to be woken by.
    .arm = [](ashlar_iface* i) -> ashlar_result { return self(i).empty() ? ASHLAR_OK : ASHLAR_AGAIN; },
    .disarm = [](ashlar_iface*) {},
    .wake_fd = [](ashlar_iface*) { return -1; },
    .wake_word = [](ashlar_iface*) -> std::uint32_t* { return nullptr; },
    .idle = [](ashlar_iface* i) { return self(i).empty() ? 1 : 0; },
    .rest = nullptr,
    .attributes = attributes,
    .forget = nullptr,
};

}  // namespace ashlar::loopback
