#include "components/transport/tcp/endpoint.h"

#include <cstring>
#include <iterator>

#include "components/transport/tcp/connection.h"
#include "components/transport/tcp/interface.h"
#include "framework/plugin/transport_fail.h"

namespace ashlar::tcp {
namespace {

Endpoint& self(ashlar_endpoint* e) { return *static_cast<Endpoint*>(e); }

[[gnu::cold]] ashlar_result is_gone(const Endpoint& peer) {
  const ashlar_fact facts[] = {{.name = "peer", .text = nullptr, .number = peer.peer},
                               {.name = "lower", .text = peer.failure.c_str(), .number = 0}};
  return ashlar_fail_with(&peer.iface->host(), ASHLAR_ERR_PROC_ABORTED, "tcp.gone", facts, std::size(facts));
}

/// Room for a frame while there is no connection; nullptr: AGAIN.
std::byte* keep(Endpoint& peer, const Frame& frame) {
  Interface& iface = *peer.iface;
  const std::size_t bytes = sizeof frame + frame.length;
  if (!peer.pending.empty() && peer.pending.size() + bytes > iface.config().send_buffer) {
    iface.counters.full.add();
    return nullptr;
  }
  std::byte* const to = peer.pending.append(bytes);
  iface.counters.buffered.raise(bytes);
  std::memcpy(to, &frame, sizeof frame);
  return to + sizeof frame;
}

void count(Endpoint& peer, std::uint32_t length) {
  peer.iface->counters.sent.add();
  peer.iface->counters.sent_bytes.add(length);
}

ashlar_result give(Endpoint& peer, const Frame& frame, const void* data) {
  if (peer.connection != nullptr) return peer.connection->send(frame, data);
  std::byte* const to = keep(peer, frame);
  if (to == nullptr) return ASHLAR_AGAIN;
  if (frame.length != 0) std::memcpy(to, data, frame.length);
  peer.iface->need_connection(peer);
  return ASHLAR_OK;
}

ashlar_result am_short(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const void* data,
                       std::uint32_t length) {
  Endpoint& peer = self(e);
  if (peer.way == Endpoint::Way::kFailed) [[unlikely]]
    return is_gone(peer);
  if (length > peer.max_short) return plugin::fail_too_long(peer.iface->host(), peer.peer, length, peer.max_short);
  const Frame frame = {.length = length, .kind = Kind::kMessage, .id = id, .reserved = 0, .h0 = h0, .h1 = h1};
  const ashlar_result result = give(peer, frame, data);
  if (result == ASHLAR_OK) count(peer, length);
  return result;
}

ashlar_result am_bcopy(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, ashlar_fill fill,
                       void* argument, std::uint32_t length) {
  Endpoint& peer = self(e);
  if (peer.way == Endpoint::Way::kFailed) [[unlikely]]
    return is_gone(peer);
  if (length > peer.max_bcopy) return plugin::fail_too_long(peer.iface->host(), peer.peer, length, peer.max_bcopy);
  const Frame frame = {.length = length, .kind = Kind::kMessage, .id = id, .reserved = 0, .h0 = h0, .h1 = h1};
  Connection* const connection = peer.connection;
  std::byte* const to = connection != nullptr ? connection->reserve(frame) : keep(peer, frame);
  if (to == nullptr) return ASHLAR_AGAIN;
  for (std::size_t done = 0; done < length;) {
    const std::size_t n = fill(argument, to + done, length - done);
    if (n == 0) {
      if (connection != nullptr) {
        connection->retract(frame);
      } else {
        peer.pending.take_back(sizeof frame + length);
        peer.iface->counters.buffered.lower(sizeof frame + length);
      }
      return plugin::fail_too_short(peer.iface->host(), peer.peer, done, length);
    }
    done += n;
  }
  if (connection != nullptr)
    connection->commit();
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
  const GetRequest wanted = {.region = key.region, .offset = offset, .length = length};
  const Frame frame = {
      .length = sizeof wanted, .kind = Kind::kGet, .id = 0, .reserved = 0, .h0 = peer.next_get, .h1 = 0};
  peer.gets[peer.next_get] = {.to = static_cast<std::byte*>(to), .length = length, .received = 0, .done = done};
  const ashlar_result asked = give(peer, frame, &wanted);
  if (asked != ASHLAR_OK) {
    peer.gets.erase(peer.next_get);
    return asked;
  }
  ++peer.next_get;
  peer.iface->counters.gets.add();
  return ASHLAR_PENDING;
}

void wake(ashlar_endpoint* e) {
  Endpoint& peer = self(e);
  if (peer.way == Endpoint::Way::kFailed) return;
  const Frame frame = {.length = 0, .kind = Kind::kWake, .id = 0, .reserved = 0, .h0 = 0, .h1 = 0};
  if (peer.connection != nullptr)
    (void)peer.connection->send(frame, nullptr);
  else
    peer.iface->need_connection(peer);  // which wakes it, too
}

}  // namespace

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
                                          .flush = nullptr};

}  // namespace ashlar::tcp
