#include "tests/unit/p2p/loop_transport.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/unit/p2p/loop_remote.h"
#include "tests/unit/p2p/loop_tags.h"

namespace ashlar::test {

ashlar_result send(LoopEndpoint& endpoint, LoopNetwork::Packet&& packet) {
  LoopIface& iface = *endpoint.iface;
  LoopNetwork& network = *iface.network;
  if (network.dead(endpoint.peer) || network.dead(iface.self)) return ASHLAR_OK;  // lost, as on a real wire
  LoopNetwork::Channel& channel = network.channel(iface.self, endpoint.peer);
  const std::lock_guard guard(channel.mutex);
  if (network.options.posts) channel.sent.push_back({packet.id, packet.h0, packet.h1});
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

namespace {

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

constexpr std::uint64_t kKind = ~std::uint64_t{0} << 32;  // what of h1 is the same in all messages of a kind

ashlar_result post(ashlar_endpoint* e, const ashlar_posted* what, std::uint32_t* number) {
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  LoopNetwork& network = *endpoint.iface->network;
  if (chance(endpoint.iface->random, network.options.again)) return ASHLAR_AGAIN;
  LoopNetwork::Channel& channel = network.channel(endpoint.peer, endpoint.iface->self);
  const std::lock_guard guard(network.posts_mutex);
  network.posts.push_back({endpoint.iface->self, endpoint.peer, *what, channel.delivered});
  *number = static_cast<std::uint32_t>(network.posts.size());
  return ASHLAR_OK;
}

ashlar_result withdraw(ashlar_endpoint* e, std::uint32_t number, std::uint64_t* written) {
  using Post = LoopNetwork::Post;
  LoopNetwork& network = *static_cast<LoopEndpoint*>(e)->iface->network;
  const std::lock_guard guard(network.posts_mutex);
  Post& post = network.posts[number - 1];
  EXPECT_NE(post.state, Post::kGone) << "taken back twice";
  if (post.state == Post::kWriting || post.state == Post::kAsked) {
    post.state = Post::kAsked;
    return ASHLAR_PENDING;
  }
  post.state = Post::kGone;
  *written = post.written;
  if (post.written != 0 && post.written < post.what.length) ++network.taken_half;
  return ASHLAR_OK;
}

ashlar_result find(ashlar_endpoint* e, const ashlar_sent* message, ashlar_found* found) {
  using Post = LoopNetwork::Post;
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  LoopNetwork& network = *endpoint.iface->network;
  const LoopNetwork::Channel& channel = network.channel(endpoint.iface->self, endpoint.peer);
  const std::lock_guard guard(network.posts_mutex);
  for (std::size_t n = 0; n < network.posts.size(); ++n) {
    const Post& post = network.posts[n];
    if (post.state != Post::kOpen || post.owner != endpoint.peer || post.sender != endpoint.iface->self ||
        post.what.h0 != message->h0 || post.what.h1 != (message->h1 & kKind) || post.what.length < message->length)
      continue;
    std::uint64_t alike = 0, earlier = ~std::uint64_t{0};
    for (std::size_t i = post.seen; i < channel.sent.size(); ++i) {
      const LoopNetwork::Head& head = channel.sent[i];
      if (head.h0 != message->h0 || ((head.h1 ^ message->h1) & kKind) != 0) continue;
      if (head.id == message->id && head.h1 == message->h1) earlier = alike;
      if ((message->ids >> head.id & 1) != 0) ++alike;
    }
    if (earlier != post.what.before) continue;
    found->number = static_cast<std::uint32_t>(n + 1);
    found->token = post.what.token;
    return ASHLAR_OK;
  }
  return ASHLAR_AGAIN;
}

/// A write that lasts: the bytes are there at the next call, which looks whether the receiver has asked meanwhile.
ashlar_result write(ashlar_endpoint* e, ashlar_found* found, const void* data, std::uint64_t length,
                    std::uint64_t most) {
  using Post = LoopNetwork::Post;
  auto& endpoint = *static_cast<LoopEndpoint*>(e);
  LoopNetwork& network = *endpoint.iface->network;
  if (network.dead(endpoint.peer)) return -MPI_ERR_PROC_ABORTED;
  const std::lock_guard guard(network.posts_mutex);
  Post& post = network.posts[found->number - 1];
  if (post.state == Post::kGone || post.state == Post::kStopped) return ASHLAR_AGAIN;
  if (post.state == Post::kOpen) {
    post.state = Post::kWriting;
    if (chance(endpoint.iface->random, network.options.write_lasts)) return ASHLAR_PENDING;
  }
  const bool fails = chance(endpoint.iface->random, network.options.write_fails);
  if (!fails) {
    const std::uint64_t bytes = std::min<std::uint64_t>({length - found->written, most, 3000});
    std::memcpy(static_cast<std::byte*>(post.what.address) + found->written,
                static_cast<const std::byte*>(data) + found->written, bytes);
    found->written += bytes;
  }
  post.written = found->written;
  const bool all = found->written == length;
  if (post.state == Post::kAsked) {
    found->asked = 1;
    ++network.asked;
    post.state = Post::kStopped;
  } else {
    post.state = all ? Post::kStopped : Post::kOpen;
  }
  if (fails) return -MPI_ERR_OTHER;
  if (all) ++network.writes;
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
  events += advance_remotes(iface) + advance_tags(iface);
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
      ++events;
      if (packet.tagged) {
        deliver_tagged(iface, {from, packet.h0, packet.h1, std::move(packet.data)});
        continue;
      }
      const ashlar_am am{packet.h0, packet.h1, packet.data.data(), static_cast<std::uint32_t>(packet.data.size()),
                         from,      packet.id};
      iface.deliver(iface.lane, &am);
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
  if (!iface.reads.empty() || !iface.remotes.empty()) return 0;
  LoopNetwork::Channel& channel = iface.network->channel(iface.self, iface.self);
  const std::lock_guard guard(channel.mutex);
  return channel.packets.empty();
}

const ashlar_post_ops kPostOps = {
    .size = sizeof kPostOps, .post = post, .withdraw = withdraw, .find = find, .write = write};
const ashlar_endpoint_ops kEndpointOps = {.size = sizeof kEndpointOps,
                                          .am_short = am_short,
                                          .am_bcopy = am_bcopy,
                                          .get = get,
                                          .put = loop_put,
                                          .wake = wake,
                                          .posts = &kPostOps,
                                          .fate = nullptr,
                                          .getv = loop_getv,
                                          .putv = loop_putv,
                                          .amo = loop_amo,
                                          .flush = loop_flush,
                                          .measured = nullptr};
const ashlar_iface_ops kIfaceOps = {.size = sizeof kIfaceOps,
                                    .address = nullptr,
                                    .connect = nullptr,
                                    .disconnect = nullptr,
                                    .progress = progress,
                                    .expose = expose,
                                    .unexpose = unexpose,
                                    .arm = arm,
                                    .disarm = disarm,
                                    .wake_fd = nullptr,
                                    .wake_word = nullptr,
                                    .idle = idle,
                                    .rest = nullptr,
                                    .attributes = loop_attributes,
                                    .forget = nullptr,
                                    .ended = nullptr,
                                    .tags = &kLoopTagOps};

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
  if (options.posts) made->capabilities |= ASHLAR_CAP_POST;
  if (options.put) made->capabilities |= ASHLAR_CAP_PUT;
  if (options.amo) made->capabilities |= ASHLAR_CAP_AMO;
  if (options.tags && !from.only_self) made->capabilities |= ASHLAR_CAP_TAG;
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
