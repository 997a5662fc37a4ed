#include "components/transport/tcp/interface.h"

#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "framework/plugin/transport_component.h"
#include "framework/plugin/transport_fail.h"

// Rounds of progress, sleeping, exposed memory.
namespace ashlar::tcp {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr std::uint64_t kTickEvery = 5'000'000;
constexpr std::uint64_t kFewestConnections = 8;

std::uint64_t connection_limit(std::uint64_t wanted) {
  if (wanted != 0) return wanted;
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return ~std::uint64_t{0};
  return std::max<std::uint64_t>(files.rlim_cur / 4 * 3, kFewestConnections);
}

}  // namespace

Interface::Interface(const ashlar_host& host, const Config& config, const ashlar_transport_context& context)
    : host_(host), config_(config), context_(context), wanted_(config.interfaces ? config.interfaces : "auto") {
  ops = &kInterfaceOps;
  // Rounds in which a process gives its core away take long.
  pace_.set(config.look_interval, context.oversubscribed != 0);
  limit_ = connection_limit(config.connections);
  show(host_, &counters);
}

Interface::~Interface() {
  if (door_ != nullptr) door_->leave(nonce());
  for (auto& [nonce, peer] : peers_) {
    peer->dial.reset();
    peer->known = false;
    if (peer->connection != nullptr) peer->connection->say_bye();
    counters.buffered.lower(peer->pending.size());
  }
  connections_.clear();
  guests_.clear();
  graveyard_.clear();
  hide(host_, counters);
}

std::vector<std::byte>& Interface::scratch(std::size_t bytes) {
  if (scratch_.size() < bytes) scratch_.resize(bytes);
  return scratch_;
}

void Interface::watch(Watched& socket, std::uint32_t events) {
  if (socket.watched_for == events && events != 0) return;
  epoll_event what = {};
  what.events = events;
  what.data.ptr = &socket;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket.fd(), &what) != 0 && errno == ENOENT)
    (void)epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.fd(), &what);
  socket.watched_for = events;
}

void Interface::unwatch(Watched& socket) { (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket.fd(), nullptr); }

void Interface::bury(std::unique_ptr<Watched> socket) {
  if (socket->fd() >= 0) unwatch(*socket);
  socket->closed = true;
  graveyard_.push_back(std::move(socket));
}

void Interface::flush_later(Connection& connection) {
  if (connection.to_flush_) return;
  connection.to_flush_ = true;
  to_flush_.push_back(&connection);
}

unsigned Interface::progress() {
  pace_.begin_round();
  while (!to_flush_.empty()) {
    Connection& connection = *to_flush_.back();
    to_flush_.pop_back();
    connection.to_flush_ = false;
    connection.flush();
  }
  return pace_.due() ? look() : 0;
}

unsigned Interface::look() {
  pace_.begin_look();
  counters.looks.add();
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, 0);
  unsigned handled = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.ptr == door_.get()) {
      accept_guests();
      ++handled;
    } else if (event.data.ptr == &inbox_) {
      take_visitors();
      ++handled;
    } else if (auto& socket = *static_cast<Watched*>(event.data.ptr); !socket.closed) {
      handled += socket.ready(event.events);
    }
  }
  if (clock() >= next_tick_) tick();
  graveyard_.clear();
  if (handled != 0)
    pace_.heat();
  else
    counters.empty_looks.add();
  return handled;
}

void Interface::tick() {
  next_tick_ = clock() + kTickEvery;
  for (std::size_t i = guests_.size(); i-- > 0;)
    if (i < guests_.size()) (void)guests_[i]->in_time(clock());
  for (auto& [nonce, peer] : peers_)
    if (peer->dial != nullptr) peer->dial->tick(clock());
  set_door(counters.strangers.now.get() < config_.strangers);
}

ashlar_result Interface::arm() {
  while (!to_flush_.empty()) {
    Connection& connection = *to_flush_.back();
    to_flush_.pop_back();
    connection.to_flush_ = false;
    connection.flush();
  }
  epoll_event event;
  return epoll_wait(epoll_.get(), &event, 1, 0) > 0 ? ASHLAR_AGAIN : ASHLAR_OK;
}

bool Interface::idle() const {
  const auto sent = [](const Connection* c) { return c->sent_all(); };
  return std::all_of(peers_.begin(), peers_.end(), [&](const auto& entry) {
    const Endpoint& peer = *entry.second;
    return peer.pending.empty() && peer.serving.empty() && (peer.connection == nullptr || sent(peer.connection)) &&
           std::all_of(peer.endings.begin(), peer.endings.end(), sent);
  });
}

ashlar_result Interface::expose(const void* address, std::uint64_t length, int kind, ashlar_key* out) {
  if (kind != ASHLAR_MEMORY_HOST) return plugin::fail_memory_kind(host_, kind);
  const Key key = {.owner = nonce(), .region = next_region_++, .length = length};
  regions_[key.region] = {static_cast<const std::byte*>(address), length};
  *out = {};
  std::memcpy(out->bytes, &key, sizeof key);
  return ASHLAR_OK;
}

void Interface::unexpose(const ashlar_key& given) {
  Key key;
  std::memcpy(&key, given.bytes, sizeof key);
  if (regions_.erase(key.region) == 0) return;
  for (auto& [nonce, peer] : peers_) {
    if (peer->connection != nullptr) peer->connection->forget_region(key.region);
    for (Connection* ending : peer->endings) ending->forget_region(key.region);
    for (std::size_t i = peer->serving.size(); i-- > 0;) {
      if (peer->serving[i].region != key.region) continue;
      const std::uint64_t request = peer->serving[i].request;
      peer->serving.erase(peer->serving.begin() + static_cast<std::ptrdiff_t>(i));
      refuse_get(*peer, request);
    }
  }
}

const std::byte* Interface::exposed(std::uint64_t region, std::uint64_t offset, std::uint64_t length) const {
  const auto known = regions_.find(region);
  if (known == regions_.end() || length == 0 || offset > known->second.length || length > known->second.length - offset)
    return nullptr;
  return known->second.at + offset;
}

void Interface::deliver(const Endpoint& peer, const Frame& frame, const std::byte* data) {
  if (peer.peer == ASHLAR_NOBODY) return;
  counters.received.add();
  counters.received_bytes.add(frame.length);
  const ashlar_am am{
      .h0 = frame.h0, .h1 = frame.h1, .data = data, .length = frame.length, .peer = peer.peer, .id = frame.id};
  context_.deliver(context_.lane_context, &am);
}

void Interface::go_on_serving(Endpoint& peer) {
  if (peer.connection != nullptr)
    peer.connection->flush();
  else
    need_connection(peer);
}

void Interface::refuse_get(Endpoint& peer, std::uint64_t request) {
  control(peer, {.length = 0, .kind = Kind::kGetFailed, .id = 0, .reserved = 0, .h0 = request, .h1 = 0});
}

/// Sends a frame that must not be lost for want of room.
void Interface::control(Endpoint& peer, const Frame& frame) {
  if (peer.way == Endpoint::Way::kFailed) return;
  if (peer.connection != nullptr && peer.connection->send(frame, nullptr) == ASHLAR_OK) return;
  counters.buffered.raise(sizeof frame);
  if (peer.connection != nullptr) {
    peer.connection->out_.append(&frame, sizeof frame);
    peer.connection->update_watch();
    return;
  }
  peer.pending.append(&frame, sizeof frame);
  need_connection(peer);
}

void Interface::end_get(Endpoint& peer, std::uint64_t request, bool good) {
  const auto found = peer.gets.find(request);
  if (found == peer.gets.end()) return;
  ashlar_completion* const done = found->second.done;
  if (!good && peer.connection != nullptr) peer.connection->forget_get(request);
  peer.gets.erase(found);
  if (good) {
    done->done(done, ASHLAR_OK);
    return;
  }
  const ashlar_fact whose = {.name = "peer", .text = nullptr, .number = peer.peer};
  done->done(done, ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "tcp.get", &whose, 1));
}

namespace {

constexpr ashlar_iface_ops functions() {
  ashlar_iface_ops all = plugin::interface_functions<Interface, Endpoint>();
  // Reads need the owner's progress, which one-sided communication does not count on: no attributes, so nothing is
  // promised.
  all.forget = [](ashlar_iface* i, std::uint32_t peer) { static_cast<Interface*>(i)->forget(peer); };
  all.ended = [](ashlar_iface* i, ashlar_endpoint* e, const char* how) {
    static_cast<Interface*>(i)->process_ended(*static_cast<Endpoint*>(e), how);
  };
  return all;
}

}  // namespace

constexpr ashlar_iface_ops kInterfaceOps = functions();

}  // namespace ashlar::tcp
