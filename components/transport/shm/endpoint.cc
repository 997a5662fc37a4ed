#include "components/transport/shm/endpoint.h"

#include <cstring>
#include <iterator>

#include "components/transport/shm/copies.h"
#include "components/transport/shm/interface.h"
#include "components/transport/shm/posts.h"
#include "components/transport/shm/single_copy.h"
#include "components/transport/shm/sleeper.h"
#include "framework/plugin/transport_fail.h"

namespace ashlar::shm {
namespace {

Endpoint& self(ashlar_endpoint* e) { return *static_cast<Endpoint*>(e); }

// Longer than a line, or no line at hand.
[[gnu::noinline]] ashlar_result am_short_otherwise(Endpoint& ep, std::uint8_t id, std::uint64_t h0, std::uint64_t h1,
                                                   const void* data, std::uint32_t length) {
  if (length > ep.max_short) return plugin::fail_too_long(ep.iface->host(), ep.peer, length, ep.max_short);
  const Form form = form_of(length);
  const std::uint32_t lines = lines_of(length, form);
  Line* line = ep.out.reserve(lines);
  if (!line) [[unlikely]] {
    const ashlar_result r = ep.iface->make_room(ep, lines, &line);
    if (!line) return r;
  }
  line->h0 = h0;
  line->h1 = h1;
  if (length) std::memcpy(line->data, data, length);
  ep.out.publish(line, id, length, form, lines);
  after_publish(ep);
  return ASHLAR_OK;
}

ashlar_result am_short(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const void* data,
                       std::uint32_t length) {
  Endpoint& ep = self(e);
  Line* line = ep.out.reserve_one();
  if (length > kInlineBytes || !line) [[unlikely]]
    return am_short_otherwise(ep, id, h0, h1, data, length);
  line->h0 = h0;
  line->h1 = h1;
  copy_inline(line->data, data, length);
  ep.out.publish_one(line, id, length);
  after_publish(ep);
  return ASHLAR_OK;
}
static_assert(kMaxShort < kAlignedFrom, "am_short writes packed records only");

ashlar_result am_bcopy(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, ashlar_fill fill,
                       void* argument, std::uint32_t length) {
  Endpoint& ep = self(e);
  if (length > ep.max_bcopy) [[unlikely]]
    return plugin::fail_too_long(ep.iface->host(), ep.peer, length, ep.max_bcopy);
  const Form form = form_of(length);
  const std::uint32_t lines = lines_of(length, form);
  Line* line = ep.out.reserve(lines);
  if (!line) [[unlikely]] {
    const ashlar_result r = ep.iface->make_room(ep, lines, &line);
    if (!line) return r;
  }
  line->h0 = h0;
  line->h1 = h1;
  auto* to = form == kAligned ? reinterpret_cast<std::byte*>(line + 1) : line->data;
  for (std::size_t done = 0; done < length;) {
    const std::size_t n = fill(argument, to + done, length - done);
    if (n == 0) [[unlikely]] {
      ep.out.abandon(lines);
      return plugin::fail_too_short(ep.iface->host(), ep.peer, done, length);
    }
    done += n;
  }
  ep.out.publish(line, id, length, form, lines);
  after_publish(ep);
  return ASHLAR_OK;
}

ashlar_result get(ashlar_endpoint* e, void* to, const ashlar_key* key, std::uint64_t offset, std::uint64_t length,
                  ashlar_completion* done) {
  Key k;
  std::memcpy(&k, key->bytes, sizeof k);
  return self(e).iface->get(self(e), to, k, offset, length, done);
}

ashlar_result put(ashlar_endpoint* e, const void* from, const ashlar_key* key, std::uint64_t offset,
                  std::uint64_t length, ashlar_completion* done) {
  Key k;
  std::memcpy(&k, key->bytes, sizeof k);
  return self(e).iface->put(self(e), from, k, offset, length, done);
}

template <bool writes>
ashlar_result copy_pieces(ashlar_endpoint* e, const ashlar_key* key, const ashlar_piece* pieces, std::uint32_t count,
                          ashlar_completion* done) {
  Key k;
  std::memcpy(&k, key->bytes, sizeof k);
  return self(e).iface->copy_pieces(self(e), writes, k, pieces, count, done);
}

ashlar_result post(ashlar_endpoint* e, const ashlar_posted* what, std::uint32_t* number) {
  return self(e).iface->posts().post(self(e), *what, number);
}

ashlar_result withdraw(ashlar_endpoint* e, std::uint32_t number, std::uint64_t* written) {
  return self(e).iface->posts().withdraw(number, written);
}

ashlar_result find(ashlar_endpoint* e, const ashlar_sent* message, ashlar_found* found) {
  return find_post(self(e), *message, found);
}

ashlar_result write(ashlar_endpoint* e, ashlar_found* found, const void* data, std::uint64_t length,
                    std::uint64_t most) {
  return write_post(self(e), found, data, length, most);
}

constexpr ashlar_post_ops kPostOps = {
    .size = sizeof kPostOps, .post = post, .withdraw = withdraw, .find = find, .write = write};

ashlar_result fate(ashlar_endpoint* e, std::uint32_t ids, std::uint64_t h0, std::uint64_t h1) {
  return self(e).iface->fate(self(e), ids, h0, h1);
}

void wake(ashlar_endpoint* e) {
  if (Endpoint& ep = self(e); ep.owner) raise_always(*ep.owner, ep.iface->wake_socket());
}

}  // namespace

const ashlar_endpoint_ops kEndpointOps = {.size = sizeof kEndpointOps,
                                          .am_short = am_short,
                                          .am_bcopy = am_bcopy,
                                          .get = get,
                                          .put = put,
                                          .wake = wake,
                                          .posts = &kPostOps,
                                          .fate = fate,
                                          .getv = copy_pieces<false>,
                                          .putv = copy_pieces<true>,
                                          .amo = nullptr,
                                          .flush = nullptr,
                                          .measured = nullptr};

void attract(const Endpoint& ep, bool cold) {
  SegmentHeader& owner = *ep.owner;
  if (cold) {
    std::atomic<std::uint64_t>& bells = owner.bells[ep.slot_index / 64];
    const std::uint64_t bit = 1ull << (ep.slot_index % 64);
    // Once rung it stays rung until the receiver comes: a flood into an unpolled ring rings once.
    if ((bells.load(std::memory_order_relaxed) & bit) == 0) {
      bells.fetch_or(bit, std::memory_order_release);
      owner.attention.fetch_or(kAttendSlots, std::memory_order_release);
    }
  }
  raise(owner, ep.iface->wake_socket());
}

}  // namespace ashlar::shm
