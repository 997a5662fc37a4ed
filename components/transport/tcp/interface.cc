#include "components/transport/tcp/interface.h"

#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "framework/base/ip_socket.h"
#include "framework/base/processors.h"
#include "framework/plugin/transport_component.h"
#include "framework/plugin/transport_fail.h"

// Rounds of progress, sleeping, exposed memory.
namespace ashlar::tcp {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr std::uint64_t kTickEvery = 5'000'000;
constexpr std::uint64_t kFewestConnections = 8;
constexpr std::size_t kBlock = 64 << 10;    // of an outbox
constexpr std::uint64_t kOwedFor = 20'000;  // ns that an acknowledgement may be put off
constexpr unsigned kInARow = 2;             // arrivals of one connection, after which it is looked at alone
constexpr unsigned kLooksForAll = 4;
constexpr std::uint64_t kLeastChunk = 4 << 10;

std::uint64_t connection_limit(std::uint64_t wanted, std::uint32_t lanes) {
  if (wanted != 0) return wanted;
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return ~std::uint64_t{0};
  return std::max<std::uint64_t>(files.rlim_cur / 4 * 3 / lanes, kFewestConnections);
}

}  // namespace

Interface::Interface(const ashlar_host& host, const Config& config, const ashlar_transport_context& context)
    : host_(host),
      config_(config),
      context_(context),
      wanted_(config.interfaces ? config.interfaces : "auto"),
      in_flight_(config.in_flight != 0 ? config.in_flight : flight_in_cache(second_level_cache())),
      get_chunk_(config.get_chunk),
      blocks_(std::max<std::size_t>(kBlock, sizeof(Frame) + config.max_bcopy)) {
  ops = &kInterfaceOps;
  // Rounds in which a process gives its core away take long.
  pace_.set(config.look_interval, context.oversubscribed != 0);
  if (get_chunk_ != 0 && get_chunk_ < kLeastChunk) {
    get_chunk_ = kLeastChunk;
    if (host.adjusted != nullptr)
      host.adjusted("transport", "tcp", "get_chunk", "4KiB", "shorter pieces are little but heads");
  }
  limit_ =
      connection_limit(config.connections, ASHLAR_HAS(&context, lanes) ? std::max<std::uint32_t>(context.lanes, 1) : 1);
  show(host_, &counters);
}

Interface::~Interface() {
  if (door_ != nullptr) door_->leave(nonce());
  for (auto& [nonce, peer] : peers_) {
    peer->dial.reset();
    peer->rails.reset();
    peer->known = false;
    if (peer->connection != nullptr) peer->connection->say_bye(true);
  }
  connections_.clear();
  peers_.clear();
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
  if (only_.connection == socket.get()) only_ = {};
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
  const unsigned handled = looks_at_one() ? only_.connection->receive() : look_at_all();
  if (handled > 1) only_.in_a_row = 0;
  if (clock() >= next_tick_) tick();
  graveyard_.clear();
  if (handled != 0) {
    pace_.heat();
    return handled;
  }
  counters.empty_looks.add();
  if (!owing_.empty() && clock() >= owing_until_) acknowledge();
  return 0;
}

void Interface::acknowledge_later(Connection& connection) {
  connection.owes_ = true;
  owing_until_ = clock() + kOwedFor;
  if (connection.is_owing_) return;
  connection.is_owing_ = true;
  owing_.push_back(&connection);
}

void Interface::acknowledge() {
  for (Connection* const connection : owing_) {
    connection->is_owing_ = false;
    if (connection->owes_) ip::acknowledge_now(connection->fd());
  }
  owing_.clear();
}

void Interface::heard(Connection& connection) {
  only_.in_a_row = only_.connection == &connection ? std::min(only_.in_a_row + 1, kInARow) : 0;
  only_.connection = &connection;
}

/// Where one connection alone has brought something of late, message by message, and all that it was given has left,
/// most looks read from it without asking epoll, a system call less for each message; the others are looked at in every
/// fourth. What comes in rows is read in larger pieces where it is given the time.
bool Interface::looks_at_one() {
  return only_.in_a_row == kInARow && counters.looks.get() % kLooksForAll != 0 &&
         only_.connection->watched_for == EPOLLIN;
}

unsigned Interface::look_at_all() {
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
  return handled;
}

void Interface::tick() {
  next_tick_ = clock() + kTickEvery;
  for (std::size_t i = guests_.size(); i-- > 0;)
    if (i < guests_.size()) (void)guests_[i]->in_time(clock());
  for (auto& [nonce, peer] : peers_)
    if (peer->dial != nullptr) peer->dial->tick(clock());
  for (auto& [nonce, peer] : peers_)
    if (peer->rails != nullptr) peer->rails->tick(clock());
  set_door(counters.strangers.now.get() < config_.strangers);
}

ashlar_result Interface::arm() {
  while (!to_flush_.empty()) {
    Connection& connection = *to_flush_.back();
    to_flush_.pop_back();
    connection.to_flush_ = false;
    connection.flush();
  }
  acknowledge();
  epoll_event event;
  return epoll_wait(epoll_.get(), &event, 1, 0) > 0 ? ASHLAR_AGAIN : ASHLAR_OK;
}

bool Interface::idle() const {
  const bool rails_are_idle = std::none_of(connections_.begin(), connections_.end(), [](const auto& connection) {
    return connection->rail() && connection->is_serving_exposed();
  });
  return rails_are_idle && std::all_of(peers_.begin(), peers_.end(), [&](const auto& entry) {
           const Endpoint& peer = *entry.second;
           if (peer.connection == nullptr) return !peer.out.has_messages();
           // A frame that the peer sends to a closed socket makes its system drop what the peer has not read.
           const bool heard_out = peer.connection->begun() && !peer.waits_for_answer();
           return peer.out.all_sent() && peer.connection->sent_all() && !peer.connection->is_serving() && heard_out;
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
  for (const auto& connection : connections_) {
    connection->forget_region(key.region);
    for (std::uint64_t request = 0; connection->take_serving_of(key.region, &request);)
      refuse_get(*connection, request);
  }
}

const std::byte* Interface::exposed(std::uint64_t region, std::uint64_t offset, std::uint64_t length) const {
  const auto known = regions_.find(region);
  if (known == regions_.end() || length == 0 || offset > known->second.length || length > known->second.length - offset)
    return nullptr;
  return known->second.at + offset;
}

void Interface::deliver(Endpoint& peer, const Frame& frame, const std::byte* data) {
  if (peer.peer == ASHLAR_NOBODY) [[unlikely]] {
    peer.peer = number_of(peer.caller);
    if (peer.peer == ASHLAR_NOBODY) return;
  }
  counters.received.add();
  counters.received_bytes.add(frame.length);
  const ashlar_am am{
      .h0 = frame.h0, .h1 = frame.h1, .data = data, .length = frame.length, .peer = peer.peer, .id = frame.id};
  context_.deliver(context_.lane_context, &am);
}

/// Asks the peer for the bytes of a get that have not come yet.
void Interface::ask(Endpoint& peer, std::uint64_t request) {
  const Get& get = peer.gets.find(request)->second;
  Connection* const over = get.over != nullptr ? get.over : peer.connection;
  if (over == nullptr) return need_connection(peer);
  const GetRequest wanted = {
      .region = get.region, .offset = get.offset + get.received, .length = get.length - get.received};
  over->send(
      {.length = sizeof wanted, .kind = Kind::kGet, .id = 0, .ack = peer.count(), .h0 = request, .h1 = get.received},
      &wanted);
}

void Interface::refuse_get(Connection& over, std::uint64_t request) {
  over.send({.length = 0, .kind = Kind::kGetFailed, .id = 0, .ack = over.peer().count(), .h0 = request, .h1 = 0},
            nullptr);
}

void Interface::end_get(Endpoint& peer, std::uint64_t request, bool good) {
  const auto found = peer.gets.find(request);
  if (found == peer.gets.end()) return;
  if (found->second.whole != nullptr) return peer.rails->stripe_over(request, good);
  ashlar_completion* const done = found->second.done;
  if (const std::uint64_t length = found->second.length; length >= kMeasuredFrom) {
    if (good)
      peer.meter.over(length, now_ns(), kMeasuredFrom);
    else
      peer.meter.give_up(length);
  }
  if (!good && peer.connection != nullptr) peer.connection->forget_get(request);
  peer.gets.erase(found);
  if (good) {
    done->done(done, ASHLAR_OK);
    return;
  }
  done->done(done, get_failed(peer));
}

ashlar_result Interface::get_failed(const Endpoint& peer) const {
  const ashlar_fact whose = {.name = "peer", .text = nullptr, .number = peer.peer};
  return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "tcp.get", &whose, 1);
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
