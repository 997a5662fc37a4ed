#include "tests/unit/p2p/loop_transport.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace ashlar::test {
namespace {

bool chance(std::mt19937& random, double probability) {
  return probability > 0 && std::uniform_real_distribution<double>(0, 1)(random) < probability;
}

ashlar_result send(LoopEndpoint& endpoint, LoopNetwork::Packet&& packet) {
  LoopIface& iface = *endpoint.iface;
  LoopNetwork& network = *iface.network;
  if (network.dead(endpoint.peer) || network.dead(iface.self)) return ASHLAR_OK;  // lost, as on a real wire
  LoopNetwork::Channel& channel = network.channel(iface.self, endpoint.peer);
  const std::lock_guard guard(channel.mutex);
  if (network.options.offers) channel.sent.push_back({packet.id, packet.h0, packet.h1});
  channel.packets.push_back(std::move(packet));
  return ASHLAR_OK;
}

bool no_room(LoopEndpoint& endpoint) {
  LoopIface& iface = *endpoint.iface;
  LoopNetwork& network = *iface.network;
  LoopNetwork::Channel& channel = network.channel(iface.self, endpoint.peer);
  bool full;
  {
    const std::lock_guard guard(channel.mutex);
    full = channel.packets.size() >= network.options.room;
  }
  if (!full && !chance(iface.random, network.options.again)) return false;
  ++iface.agains;
  return true;
}

ashlar_result am_short(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const void* data,
                       std::uint32_t length) {
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  if (length > endpoint.max_short) return -MPI_ERR_INTERN;
  if (no_room(endpoint)) return ASHLAR_AGAIN;
  const auto* const bytes = static_cast<const std::byte*>(data);
  return send(endpoint, {id, h0, h1, std::vector<std::byte>(bytes, bytes + length)});
}

ashlar_result am_bcopy(ashlar_endpoint* e, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, ashlar_fill fill,
                       void* argument, std::uint32_t length) {
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  if (length > endpoint.max_bcopy) return -MPI_ERR_INTERN;
  if (no_room(endpoint)) return ASHLAR_AGAIN;
  std::vector<std::byte> data(length);
  if (fill(argument, data.data(), length) != length) return -MPI_ERR_INTERN;
  return send(endpoint, {id, h0, h1, std::move(data)});
}

ashlar_result get(ashlar_endpoint* e, void* to, const ashlar_key* key, std::uint64_t offset, std::uint64_t length,
                  ashlar_completion* done) {
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  LoopIface& iface = *endpoint.iface;
  const LoopOptions& options = iface.network->options;
  if (chance(iface.random, options.again)) {
    ++iface.agains;
    return ASHLAR_AGAIN;
  }
  ++iface.gets;
  if (options.proves_get_late || chance(iface.random, options.get_fails)) {
    if (!chance(iface.random, options.get_pending)) return -MPI_ERR_OTHER;
    iface.reads.emplace_back(done, -MPI_ERR_OTHER);
    return ASHLAR_PENDING;
  }
  std::uint64_t address;
  std::memcpy(&address, key->bytes, sizeof address);
  std::memcpy(to, reinterpret_cast<const std::byte*>(address) + offset, length);
  if (!chance(iface.random, options.get_pending)) return ASHLAR_OK;
  iface.reads.emplace_back(done, ASHLAR_OK);
  return ASHLAR_PENDING;
}

void wake(ashlar_endpoint*) {}

ashlar_result offer(ashlar_endpoint* e, const ashlar_offer* what, std::uint32_t* number) {
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  LoopNetwork& network = *endpoint.iface->network;
  if (chance(endpoint.iface->random, network.options.again)) return ASHLAR_AGAIN;
  LoopNetwork::Channel& channel = network.channel(endpoint.peer, endpoint.iface->self);
  const std::lock_guard guard(network.offers_mutex);
  network.offers.push_back({endpoint.iface->self, endpoint.peer, *what, channel.delivered});
  *number = static_cast<std::uint32_t>(network.offers.size());
  return ASHLAR_OK;
}

ashlar_result withdraw(ashlar_endpoint* e, std::uint32_t number, std::uint64_t* written) {
  using Offer = LoopNetwork::Offer;
  LoopNetwork& network = *static_cast<LoopEndpoint*>(e)->iface->network;
  const std::lock_guard guard(network.offers_mutex);
  Offer& offer = network.offers[number - 1];
  EXPECT_NE(offer.state, Offer::kGone) << "taken back twice";
  if (offer.state == Offer::kWriting || offer.state == Offer::kAsked) {
    offer.state = Offer::kAsked;
    return ASHLAR_PENDING;
  }
  offer.state = Offer::kGone;
  *written = offer.written;
  if (offer.written != 0 && offer.written < offer.what.length) ++network.taken_half;
  return ASHLAR_OK;
}

ashlar_result claim(ashlar_endpoint* e, const ashlar_sent* message, ashlar_claim* found) {
  using Offer = LoopNetwork::Offer;
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  LoopNetwork& network = *endpoint.iface->network;
  const LoopNetwork::Channel& channel = network.channel(endpoint.iface->self, endpoint.peer);
  const std::lock_guard guard(network.offers_mutex);
  for (std::size_t n = 0; n < network.offers.size(); ++n) {
    const Offer& offer = network.offers[n];
    if (offer.state != Offer::kOpen || offer.owner != endpoint.peer || offer.sender != endpoint.iface->self ||
        offer.what.h0 != message->h0 || offer.what.h1 != (message->h1 & message->h1_mask) ||
        offer.what.length < message->length)
      continue;
    std::uint64_t alike = 0, earlier = ~std::uint64_t{0};
    for (std::size_t i = offer.seen; i < channel.sent.size(); ++i) {
      const LoopNetwork::Head& head = channel.sent[i];
      if (head.h0 != message->h0 || ((head.h1 ^ message->h1) & message->h1_mask) != 0) continue;
      if (head.id == message->id && head.h1 == message->h1) earlier = alike;
      if ((message->ids >> head.id & 1) != 0) ++alike;
    }
    if (earlier != offer.what.before) continue;
    found->number = static_cast<std::uint32_t>(n + 1);
    found->token = offer.what.token;
    return ASHLAR_OK;
  }
  return ASHLAR_AGAIN;
}

/// A deposit that lasts: the bytes are there at the next call, which looks whether somebody has asked meanwhile.
ashlar_result deposit(ashlar_endpoint* e, ashlar_claim* found, const void* data, std::uint64_t length,
                      std::uint64_t most) {
  using Offer = LoopNetwork::Offer;
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  LoopNetwork& network = *endpoint.iface->network;
  if (network.dead(endpoint.peer)) return -MPI_ERR_PROC_ABORTED;
  const std::lock_guard guard(network.offers_mutex);
  Offer& offer = network.offers[found->number - 1];
  if (offer.state == Offer::kGone || offer.state == Offer::kStopped) return ASHLAR_AGAIN;
  if (offer.state == Offer::kOpen) {
    offer.state = Offer::kWriting;
    if (chance(endpoint.iface->random, network.options.deposit_lasts)) return ASHLAR_PENDING;
  }
  const bool fails = chance(endpoint.iface->random, network.options.deposit_fails);
  if (!fails) {
    const std::uint64_t bytes = std::min<std::uint64_t>({length - found->written, most, 3000});
    std::memcpy(static_cast<std::byte*>(offer.what.address) + found->written,
                static_cast<const std::byte*>(data) + found->written, bytes);
    found->written += bytes;
  }
  offer.written = found->written;
  const bool all = found->written == length;
  if (offer.state == Offer::kAsked) {
    found->asked = 1;
    ++network.asked;
    offer.state = Offer::kStopped;
  } else {
    offer.state = all ? Offer::kStopped : Offer::kOpen;
  }
  if (fails) return -MPI_ERR_OTHER;
  if (all) ++network.deposits;
  return all ? ASHLAR_OK : ASHLAR_PENDING;
}

unsigned progress(ashlar_iface* i) {
  auto& iface = *static_cast<LoopIface*>(i);
  LoopNetwork& network = *iface.network;
  unsigned events = 0;
  for (std::size_t n = iface.reads.size(); n-- > 0;) {
    const auto [completion, result] = iface.reads.front();
    iface.reads.pop_front();
    completion->done(completion, result);
    ++events;
  }
  if (network.dead(iface.self)) return events;
  std::vector<std::uint32_t> senders(network.processes());
  std::iota(senders.begin(), senders.end(), 0u);
  std::shuffle(senders.begin(), senders.end(), iface.random);
  for (const std::uint32_t from : senders) {
    if ((from == iface.self) != iface.only_self) continue;
    if (network.dead(from) && network.channel(from, iface.self).packets.empty() &&
        iface.deaths_told.insert(from).second) {
      iface.failed(iface.lane, from, "killed by the test");
      ++events;
    }
    // As many as there are now; a handler may send to its own process.
    for (std::size_t left = network.options.room; left-- > 0;) {
      if (chance(iface.random, network.options.delay)) break;
      LoopNetwork::Packet packet;
      LoopNetwork::Channel& channel = network.channel(from, iface.self);
      {
        const std::lock_guard guard(channel.mutex);
        if (channel.packets.empty()) break;
        packet = std::move(channel.packets.front());
        channel.packets.pop_front();
        ++channel.delivered;
      }
      const ashlar_am am{packet.h0, packet.h1, packet.data.data(), static_cast<std::uint32_t>(packet.data.size()),
                         from,      packet.id};
      iface.deliver(iface.lane, &am);
      ++events;
    }
  }
  return events;
}

ashlar_result expose(ashlar_iface* i, const void* address, std::uint64_t, int, ashlar_key* out) {
  ++static_cast<LoopIface*>(i)->exposed;
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  std::memset(out->bytes, 0, sizeof out->bytes);
  std::memcpy(out->bytes, &value, sizeof value);
  return ASHLAR_OK;
}
void unexpose(ashlar_iface* i, const ashlar_key*) { ++static_cast<LoopIface*>(i)->unexposed; }
ashlar_result arm(ashlar_iface*) { return ASHLAR_OK; }
void disarm(ashlar_iface*) {}

int idle(ashlar_iface* i) {
  auto& iface = *static_cast<LoopIface*>(i);
  if (!iface.reads.empty()) return 0;
  LoopNetwork::Channel& channel = iface.network->channel(iface.self, iface.self);
  const std::lock_guard guard(channel.mutex);
  return channel.packets.empty();
}

const ashlar_endpoint_ops kEndpointOps = {
    sizeof kEndpointOps, am_short, am_bcopy, nullptr, get, nullptr, wake, offer, withdraw, claim, deposit, nullptr};
const ashlar_iface_ops kIfaceOps = {sizeof kIfaceOps, nullptr, nullptr, nullptr, progress, expose, unexpose, arm,
                                    disarm,           nullptr, nullptr, idle,    nullptr};

}  // namespace

LoopNetwork::LoopNetwork(std::uint32_t processes, const LoopOptions& o)
    : options(o), processes_(processes), channels_(processes * processes) {}

LoopIface* LoopNetwork::iface(std::uint32_t process, bool only_self) {
  auto& made = ifaces_.emplace_back(std::make_unique<LoopIface>());
  made->ops = &kIfaceOps;
  made->network = this;
  made->self = process;
  made->only_self = only_self;
  made->random.seed(options.seed * 1000 + process * 2 + only_self);
  return made.get();
}

ashlar_endpoint* LoopNetwork::connect(LoopIface& from, std::uint32_t to) {
  const std::lock_guard guard(mutex_);
  auto& made = endpoints_.emplace_back(std::make_unique<LoopEndpoint>());
  made->ops = &kEndpointOps;
  if (options.get) made->capabilities |= ASHLAR_CAP_GET;
  if (options.offers) made->capabilities |= ASHLAR_CAP_OFFER;
  made->max_short = options.max_short;
  made->max_bcopy = options.max_bcopy;
  made->peer = to;
  made->latency_ns = 100;
  made->bandwidth_copy = 5;
  made->bandwidth_get = options.get ? 10 : 0;
  made->iface = &from;
  return made.get();
}

void LoopNetwork::kill(std::uint32_t process) {
  const std::lock_guard guard(mutex_);
  dead_.insert(process);
}

bool LoopNetwork::dead(std::uint32_t process) {
  const std::lock_guard guard(mutex_);
  return dead_.count(process) != 0;
}

std::size_t LoopNetwork::in_flight() {
  std::size_t packets = 0;
  for (Channel& channel : channels_) {
    const std::lock_guard guard(channel.mutex);
    packets += channel.packets.size();
  }
  return packets;
}

}  // namespace ashlar::test
