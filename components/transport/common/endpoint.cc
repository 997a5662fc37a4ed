#include "components/transport/common/endpoint.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "components/transport/common/interface.h"
#include "components/transport/common/striped_reads.h"
#include "framework/plugin/transport_fail.h"

namespace ashlar::network {

Endpoint::Endpoint() : ashlar_endpoint{} {}
Endpoint::~Endpoint() = default;

[[gnu::cold]] ashlar_result is_gone(const Endpoint& peer) {
  const ashlar_fact facts[] = {{.name = "peer", .text = nullptr, .number = peer.peer},
                               {.name = "lower", .text = peer.failure.c_str(), .number = 0}};
  return ashlar_fail_with(&peer.iface->host(), ASHLAR_ERR_PROC_ABORTED, "network.gone", facts, std::size(facts));
}

Frame next_frame(const Endpoint& peer, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, std::uint16_t length) {
  return {.token = peer.keys.token,
          .h0 = h0,
          .h1 = h1,
          .number = peer.number + 1,
          .kind = Kind::kMessage,
          .id = id,
          .length = length};
}

namespace {

Endpoint& self(ashlar_endpoint* e) { return *static_cast<Endpoint*>(e); }

ashlar_result am_short(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const void* data,
                       std::uint32_t length) {
  Endpoint& peer = self(e);
  if (peer.way == Endpoint::Way::kFailed) [[unlikely]]
    return is_gone(peer);
  if (length > peer.max_short) return plugin::fail_too_long(peer.iface->host(), peer.peer, length, peer.max_short);
  return peer.iface->send_short(peer, next_frame(peer, id, h0, h1, static_cast<std::uint16_t>(length)), data);
}

ashlar_result am_bcopy(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, ashlar_fill fill,
                       void* argument, std::uint32_t length) {
  Endpoint& peer = self(e);
  if (peer.way == Endpoint::Way::kFailed) [[unlikely]]
    return is_gone(peer);
  if (length > peer.max_bcopy) return plugin::fail_too_long(peer.iface->host(), peer.peer, length, peer.max_bcopy);
  Buffer* const buffer = peer.iface->buffer_for(peer, length);
  if (buffer == nullptr) return ASHLAR_AGAIN;
  buffer->frame() = next_frame(peer, id, h0, h1, rest_of(length));
  for (std::size_t done = 0; done < length;) {
    const std::size_t n = fill(argument, buffer->payload() + done, length - done);
    if (n == 0) {
      buffer->pool->give_back(*buffer);
      return plugin::fail_too_short(peer.iface->host(), peer.peer, done, length);
    }
    done += n;
  }
  peer.iface->send(peer, *buffer, length);
  return ASHLAR_OK;
}

ashlar_result transfer(Operation::What what, ashlar_endpoint* e, void* here, const ashlar_key* given,
                       std::uint64_t offset, std::uint64_t length, ashlar_completion* done) {
  Endpoint& peer = self(e);
  if (peer.way == Endpoint::Way::kFailed) [[unlikely]]
    return is_gone(peer);
  Key key;
  std::memcpy(&key, given->bytes, sizeof key);
  if (key.owner != peer.nonce || offset > key.length || length > key.length - offset)
    return plugin::fail_outside(peer.iface->host(), peer.peer, offset, length, key.length);
  if (length == 0) return ASHLAR_OK;
  return peer.iface->transfer(what, peer, here, key, offset, length, done);
}
ashlar_result get(ashlar_endpoint* e, void* to, const ashlar_key* key, std::uint64_t offset, std::uint64_t length,
                  ashlar_completion* done) {
  return transfer(Operation::What::kRead, e, to, key, offset, length, done);
}
ashlar_result put(ashlar_endpoint* e, const void* from, const ashlar_key* key, std::uint64_t offset,
                  std::uint64_t length, ashlar_completion* done) {
  return transfer(Operation::What::kPut, e, const_cast<void*>(from), key, offset, length, done);
}

void wake(ashlar_endpoint* e) {
  if (Endpoint& peer = self(e); peer.way == Endpoint::Way::kOpen) peer.iface->control(peer, Kind::kWake);
}

void measured(ashlar_endpoint* e, ashlar_path_cost* out) {
  const Endpoint& peer = self(e);
  double speed = peer.meter.speed();
  if (peer.striped != nullptr) speed = std::max(speed, peer.striped->speed());
  *out = {.round_trip_ns = peer.round_trip == ~std::uint64_t{0} ? 0.0F : static_cast<float>(peer.round_trip),
          .bandwidth = static_cast<float>(speed)};
}

}  // namespace

const ashlar_endpoint_ops kEndpointOps = {.size = sizeof kEndpointOps,
                                          .am_short = am_short,
                                          .am_bcopy = am_bcopy,
                                          .get = get,
                                          .put = put,
                                          .wake = wake,
                                          .posts = nullptr,
                                          .fate = nullptr,
                                          .getv = nullptr,
                                          .putv = nullptr,
                                          .amo = nullptr,
                                          .flush = nullptr,
                                          .measured = measured};

}  // namespace ashlar::network
