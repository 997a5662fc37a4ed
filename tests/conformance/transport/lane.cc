#include "tests/conformance/transport/lane.h"

#include <sched.h>

#include <cstdio>
#include <stdexcept>

#include "framework/plugin/tables.h"

namespace ashlar::test {

Lane::Lane(const Component& component, Place place) : component_(component), place_(place) {
  ashlar_transport_context context{};
  context.size = sizeof context;
  context.self = place.self;
  context.job_size = place.local_size;
  context.local_rank = place.self;
  context.local_size = place.local_size;
  context.job_id = "conformance";
  context.job_cookie = 0x5eed;
  context.oversubscribed = place.oversubscribed ? 1 : 0;
  context.lane_context = this;
  context.job[0] = place.job;
  context.peer_of = [](void* lane, const std::uint64_t job[2], std::uint32_t rank) {
    const auto& self = *static_cast<const Lane*>(lane);
    return job[0] == self.place_.job && job[1] == 0 ? rank : self.others;
  };
  context.tags_wanted = place.tags ? ASHLAR_TAGS_WHERE_WORKING : ASHLAR_TAGS_NEVER;
  context.deliver = [](void* lane, const ashlar_am* am) {
    if (auto& handler = static_cast<Lane*>(lane)->on_message) handler(*am);
  };
  context.failed = [](void* lane, std::uint32_t peer, const char* reason) {
    static_cast<Lane*>(lane)->failures.emplace_back(peer, reason);
  };
  void* module = nullptr;
  if (component->create(&context, &module) != ASHLAR_OK || !module)
    throw std::runtime_error(std::string("no interface is made: ") + last_failure());
  iface_ = static_cast<ashlar_iface*>(module);
  if (const Status taken = plugin::take_table(iface_, component->name); !taken.ok())
    throw std::runtime_error(taken.text());
}

Lane::~Lane() { component_->destroy(iface_); }

std::string Lane::address() const {
  char bytes[ASHLAR_ADDRESS_MAX];
  std::uint32_t length = sizeof bytes;
  if (iface_->ops->address(iface_, bytes, &length) != ASHLAR_OK) return {};
  return std::string(bytes, length);
}

ashlar_endpoint* Lane::connect(std::uint32_t peer, const std::string& address) {
  ashlar_endpoint* endpoint = nullptr;
  const ashlar_result r =
      iface_->ops->connect(iface_, peer, address.data(), static_cast<std::uint32_t>(address.size()), &endpoint);
  if (r != ASHLAR_OK || !endpoint) return nullptr;
  const Status taken = plugin::take_table(endpoint, component_->name);
  if (!taken.ok()) std::fprintf(stderr, "%s\n", taken.text());
  return taken.ok() ? endpoint : nullptr;
}

void progress_or_yield(const std::vector<Lane*>& lanes) {
  unsigned events = 0;
  for (Lane* lane : lanes) events += lane->progress();
  if (events == 0) sched_yield();  // the tests also run with more processes than cores
}

ashlar_result send_short(ashlar_endpoint* to, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const void* data,
                         std::uint32_t length, const std::vector<Lane*>& lanes) {
  for (;;) {
    const ashlar_result r = to->ops->am_short(to, id, h0, h1, data, length);
    if (r != ASHLAR_AGAIN) return r;
    progress_or_yield(lanes);
  }
}

ashlar_result send_bcopy(ashlar_endpoint* to, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const void* data,
                         std::uint32_t length, const std::vector<Lane*>& lanes) {
  for (;;) {
    Source source{static_cast<const unsigned char*>(data), length};
    const ashlar_result r = to->ops->am_bcopy(to, id, h0, h1, fill_from, &source, length);
    if (r != ASHLAR_AGAIN) return r;
    progress_or_yield(lanes);
  }
}

std::vector<unsigned char> pattern(std::uint64_t seed, std::size_t length) {
  std::vector<unsigned char> bytes(length);
  std::uint64_t x = seed * 0x9e3779b97f4a7c15 + 1;
  for (std::size_t i = 0; i < length; ++i) {
    if (i % 8 == 0) x = x * 6364136223846793005 + 1442695040888963407;
    bytes[i] = static_cast<unsigned char>(x >> (8 * (i % 8)));
  }
  return bytes;
}

std::uint64_t checksum(const void* data, std::size_t length) {
  const auto* p = static_cast<const unsigned char*>(data);
  std::uint64_t h = 0xcbf29ce484222325 ^ length;
  for (; length >= 8; length -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    h = (h ^ word) * 0x100000001b3;
    h ^= h >> 29;
  }
  for (; length > 0; --length, ++p) h = (h ^ *p) * 0x100000001b3;
  return h;
}

std::size_t fill_from(void* source, void* to, std::size_t room) {
  auto& s = *static_cast<Source*>(source);
  const std::size_t n = room < s.left ? room : s.left;
  std::memcpy(to, s.data, n);
  s.data += n;
  s.left -= n;
  return n;
}

}  // namespace ashlar::test
