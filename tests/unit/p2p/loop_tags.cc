#include "tests/unit/p2p/loop_tags.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>

#include "tests/unit/p2p/loop_remote.h"

namespace ashlar::test {
namespace {

bool fits(const LoopTagReceive& receive, const LoopTagged& message) {
  return (receive.any || receive.from == message.from) && ((receive.tag ^ message.tag) & ~receive.ignored) == 0;
}

void end(ashlar_tag_receive* receive, ashlar_result result, const LoopTagged& message, const void* data) {
  const ashlar_tag_event event = {.result = result,
                                  .peer = message.from,
                                  .tag = message.tag,
                                  .immediate = message.immediate,
                                  .length = message.data.size(),
                                  .data = data};
  receive->done(receive, &event);
}

void give(const LoopTagReceive& receive, const LoopTagged& message) {
  const std::size_t bytes = std::min<std::size_t>(receive.length, message.data.size());
  std::copy_n(message.data.begin(), bytes, static_cast<std::byte*>(receive.to));
  end(receive.receive, ASHLAR_OK, message, nullptr);
}

/// Takes the oldest message that fits out of those that met no receive.
bool take(LoopIface& iface, const LoopTagReceive& receive, LoopTagged* message) {
  const auto found =
      std::find_if(iface.untaken.begin(), iface.untaken.end(), [&](const LoopTagged& m) { return fits(receive, m); });
  if (found == iface.untaken.end()) return false;
  *message = std::move(*found);
  iface.untaken.erase(found);
  return true;
}

ashlar_result send_tagged(ashlar_endpoint* e, std::uint64_t tag, std::uint64_t immediate, ashlar_fill fill,
                          void* argument, std::uint32_t length) {
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  EXPECT_LE(length, endpoint.max_bcopy);
  if (no_room(endpoint)) return ASHLAR_AGAIN;
  std::vector<std::byte> data(length);
  if (length != 0 && fill(argument, data.data(), length) != length) return -MPI_ERR_INTERN;
  LoopIface& iface = *endpoint.iface;
  if (++iface.tagged == iface.network->options.lose_tagged) return ASHLAR_OK;
  return send(endpoint, {.id = 0, .h0 = tag, .h1 = immediate, .data = std::move(data), .tagged = true});
}

ashlar_result announce(ashlar_endpoint* e, std::uint64_t tag, std::uint64_t immediate, std::uint8_t id,
                       std::uint64_t h0, std::uint64_t h1, const void* data, std::uint32_t length) {
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  EXPECT_LE(length, endpoint.max_short);
  if (no_room(endpoint)) return ASHLAR_AGAIN;
  const auto* const bytes = static_cast<const std::byte*>(data);
  static_cast<void>(send(endpoint, {id, h0, h1, std::vector<std::byte>(bytes, bytes + length)}));
  ++endpoint.iface->tagged;
  return send(endpoint, {.id = 0, .h0 = tag, .h1 = immediate, .data = {}, .tagged = true});
}

ashlar_result receive_tagged(ashlar_endpoint* e, std::uint64_t tag, std::uint64_t ignored, void* to,
                             std::uint32_t length, ashlar_tag_receive* receive) {
  LoopIface& iface = *static_cast<LoopEndpoint*>(e)->iface;
  if (chance(iface.random, iface.network->options.again)) return ASHLAR_AGAIN;
  const LoopTagReceive posted = {receive, false, e->peer, tag, ignored, to, length};
  LoopTagged message;
  if (take(iface, posted, &message))
    give(posted, message);
  else
    iface.tag_receives.push_back(posted);
  return ASHLAR_PENDING;
}

ashlar_result claim(ashlar_iface* i, ashlar_endpoint* of, std::uint64_t tag, std::uint64_t ignored,
                    ashlar_tag_receive* receive) {
  auto& iface = *static_cast<LoopIface*>(i);
  const LoopTagReceive wanted = {receive, of == nullptr, of != nullptr ? of->peer : 0, tag, ignored, nullptr, 0};
  if (chance(iface.random, iface.network->options.claim_lasts)) {
    iface.claims.push_back(wanted);
    return ASHLAR_PENDING;
  }
  LoopTagged message;
  if (!take(iface, wanted, &message)) return ASHLAR_AGAIN;
  end(receive, ASHLAR_OK, message, message.data.data());
  return ASHLAR_PENDING;
}

void end_cancelled(LoopIface& iface, ashlar_tag_receive* receive) {
  const auto found = std::find_if(iface.tag_receives.begin(), iface.tag_receives.end(),
                                  [&](const LoopTagReceive& posted) { return posted.receive == receive; });
  if (found == iface.tag_receives.end()) return;  // it has a message
  iface.tag_receives.erase(found);
  end(receive, ASHLAR_AGAIN, {}, nullptr);
}

void cancel(ashlar_iface* i, ashlar_tag_receive* receive) {
  auto& iface = *static_cast<LoopIface*>(i);
  if (chance(iface.random, iface.network->options.claim_lasts))
    iface.cancelled.push_back(receive);
  else
    end_cancelled(iface, receive);
}

}  // namespace

const ashlar_tag_ops kLoopTagOps = {.size = sizeof kLoopTagOps,
                                    .send = send_tagged,
                                    .announce = announce,
                                    .receive = receive_tagged,
                                    .claim = claim,
                                    .cancel = cancel};

void deliver_tagged(LoopIface& iface, LoopTagged&& message) {
  const auto found = std::find_if(iface.tag_receives.begin(), iface.tag_receives.end(),
                                  [&](const LoopTagReceive& posted) { return fits(posted, message); });
  if (found == iface.tag_receives.end()) {
    iface.untaken.push_back(std::move(message));
    return;
  }
  const LoopTagReceive posted = *found;
  iface.tag_receives.erase(found);
  give(posted, message);
}

unsigned advance_tags(LoopIface& iface) {
  unsigned events = 0;
  for (std::size_t left = iface.cancelled.size(); left-- > 0; ++events) {
    ashlar_tag_receive* const receive = iface.cancelled.front();
    iface.cancelled.pop_front();
    end_cancelled(iface, receive);
  }
  for (std::size_t left = iface.claims.size(); left-- > 0; ++events) {
    const LoopTagReceive wanted = iface.claims.front();
    iface.claims.pop_front();
    LoopTagged message;
    const bool found = take(iface, wanted, &message);
    end(wanted.receive, found ? ASHLAR_OK : ASHLAR_AGAIN, message, message.data.data());
  }
  return events;
}

}  // namespace ashlar::test
