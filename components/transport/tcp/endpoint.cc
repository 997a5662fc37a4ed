#include "components/transport/tcp/endpoint.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "components/transport/tcp/connection.h"
#include "components/transport/tcp/interface.h"
#include "components/transport/tcp/rails.h"
#include "components/transport/tcp/socket.h"
#include "framework/base/clock.h"
#include "framework/base/ip_path.h"
#include "framework/plugin/transport_fail.h"

namespace ashlar::tcp {
namespace {

// Half of what the bits of a frame's head can tell apart.
constexpr std::uint64_t kMostMessages = 1 << 15;

Endpoint& self(ashlar_endpoint* e) { return *static_cast<Endpoint*>(e); }

[[gnu::cold]] ashlar_result is_gone(const Endpoint& peer) {
  const ashlar_fact facts[] = {{.name = "peer", .text = nullptr, .number = peer.peer},
                               {.name = "lower", .text = peer.failure.c_str(), .number = 0}};
  return ashlar_fail_with(&peer.iface->host(), ASHLAR_ERR_PROC_ABORTED, "tcp.gone", facts, std::size(facts));
}

/// Whether the frame can be kept: else AGAIN.
bool make_room(Endpoint& peer, std::size_t bytes) {
  if (peer.connection != nullptr ? peer.connection->make_room(bytes) : peer.has_room(bytes)) [[likely]]
    return true;
  peer.iface->counters.full.add();
  return false;
}

void count(Endpoint& peer, std::uint32_t length) {
  peer.iface->counters.sent.add();
  peer.iface->counters.sent_bytes.add(length);
}

ashlar_result am_short(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const void* data,
                       std::uint32_t length) {
  Endpoint& peer = self(e);
  if (peer.way == Endpoint::Way::kFailed) [[unlikely]]
    return is_gone(peer);
  if (length > peer.max_short) return plugin::fail_too_long(peer.iface->host(), peer.peer, length, peer.max_short);
  const std::size_t bytes = sizeof(Frame) + length;
  if (!make_room(peer, bytes)) return ASHLAR_AGAIN;
  const Frame frame = {.length = length, .kind = Kind::kMessage, .id = id, .ack = peer.count(), .h0 = h0, .h1 = h1};
  count(peer, length);
  if (peer.connection != nullptr) [[likely]] {
    peer.connection->send(frame, data);
    return ASHLAR_OK;
  }
  std::byte* const to = peer.out.append(bytes, true);
  std::memcpy(to, &frame, sizeof frame);
  if (length != 0) std::memcpy(to + sizeof frame, data, length);
  peer.iface->need_connection(peer);
  return ASHLAR_OK;
}

ashlar_result am_bcopy(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, ashlar_fill fill,
                       void* argument, std::uint32_t length) {
  Endpoint& peer = self(e);
  if (peer.way == Endpoint::Way::kFailed) [[unlikely]]
    return is_gone(peer);
  if (length > peer.max_bcopy) return plugin::fail_too_long(peer.iface->host(), peer.peer, length, peer.max_bcopy);
  const std::size_t bytes = sizeof(Frame) + length;
  if (!make_room(peer, bytes)) return ASHLAR_AGAIN;
  const Frame frame = {.length = length, .kind = Kind::kMessage, .id = id, .ack = peer.count(), .h0 = h0, .h1 = h1};
  std::byte* const to = peer.out.append(bytes, true);
  std::memcpy(to, &frame, sizeof frame);
  for (std::size_t done = 0; done < length;) {
    const std::size_t n = fill(argument, to + sizeof frame + done, length - done);
    if (n == 0) {
      peer.out.take_back(bytes, true);
      return plugin::fail_too_short(peer.iface->host(), peer.peer, done, length);
    }
    done += n;
  }
  if (peer.connection != nullptr)
    peer.connection->commit();
  else
    peer.iface->need_connection(peer);
  count(peer, length);
  return ASHLAR_OK;
}

/// The owner sends the bytes when it makes progress; they arrive in `to`.
ashlar_result get(ashlar_endpoint* e, void* to, const ashlar_key* given, std::uint64_t offset, std::uint64_t length,
                  ashlar_completion* done) {
  Endpoint& peer = self(e);
  if (peer.way == Endpoint::Way::kFailed) [[unlikely]]
    return is_gone(peer);
  Key key;
  std::memcpy(&key, given->bytes, sizeof key);
  if (key.owner != peer.nonce || offset > key.length || length > key.length - offset)
    return plugin::fail_outside(peer.iface->host(), peer.peer, offset, length, key.length);
  if (length == 0) return ASHLAR_OK;
  if (peer.may_have_rails && length >= peer.iface->config().stripe_from &&
      peer.iface->rails_to(peer).read(static_cast<std::byte*>(to), key.region, offset, length, done)) {
    peer.iface->counters.gets.add();
    return ASHLAR_PENDING;
  }
  // Without a connection it is asked for as soon as there is one.
  if (peer.connection != nullptr && !make_room(peer, sizeof(Frame) + sizeof(GetRequest))) return ASHLAR_AGAIN;
  const std::uint64_t request = peer.next_get++;
  peer.gets[request] = {.to = static_cast<std::byte*>(to),
                        .region = key.region,
                        .offset = offset,
                        .length = length,
                        .received = 0,
                        .done = done};
  if (length >= kMeasuredFrom) peer.meter.ask(length, now_ns());
  peer.iface->ask(peer, request);
  peer.iface->counters.gets.add();
  return ASHLAR_PENDING;
}

void wake(ashlar_endpoint* e) {
  Endpoint& peer = self(e);
  if (peer.way == Endpoint::Way::kFailed) return;
  const Frame frame = {.length = 0, .kind = Kind::kWake, .id = 0, .ack = peer.count(), .h0 = 0, .h1 = 0};
  if (peer.connection != nullptr)
    peer.connection->send(frame, nullptr);
  else
    peer.iface->need_connection(peer);  // which wakes it, too
}

/// The system measures round trips, which do not depend on what the peer's program does, and how fast bytes have been
/// delivered; that counts until this process has read something large.
void measured(ashlar_endpoint* e, ashlar_path_cost* out) {
  const Endpoint& peer = self(e);
  double speed = peer.meter.speed();
  if (peer.rails != nullptr) speed = std::max(speed, peer.rails->speed());
  *out = {.round_trip_ns = 0, .bandwidth = static_cast<float>(speed)};
  PathInfo path;
  if (peer.connection == nullptr || !read_path_info(peer.connection->fd(), &path)) return;
  out->round_trip_ns = static_cast<float>(path.round_trip_ns);
  if (speed <= 0) out->bandwidth = static_cast<float>(path.bytes_per_ns);
}

}  // namespace

bool Endpoint::needs_connection() const {
  return out.has_messages() || !gets.empty() || (rails != nullptr && rails->reading());
}

std::uint64_t Endpoint::most_kept() const {
  return std::max<std::uint64_t>(iface->config().keep, 2 * std::uint64_t{max_bcopy});
}

bool Endpoint::has_room(std::size_t bytes) const {
  const std::size_t waiting = out.waiting();
  if (waiting != 0 && waiting + bytes > iface->config().send_buffer) return false;
  return (out.size() + bytes <= most_kept() || !out.has_messages()) && out.messages() < kMostMessages;
}

bool Endpoint::should_ask() const {
  if (out.size() < most_kept() / 4 && out.messages() < kMostMessages / 4) [[likely]]
    return false;
  return out.has_messages() && !waits_for_answer();
}

const ashlar_endpoint_ops kEndpointOps = {.size = sizeof kEndpointOps,
                                          .am_short = am_short,
                                          .am_bcopy = am_bcopy,
                                          .get = get,
                                          .put = nullptr,
                                          .wake = wake,
                                          .posts = nullptr,
                                          .fate = nullptr,
                                          .getv = nullptr,
                                          .putv = nullptr,
                                          .amo = nullptr,
                                          .flush = nullptr,
                                          .measured = measured};

}  // namespace ashlar::tcp
