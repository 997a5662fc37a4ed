#include <net/if.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "components/transport/tcp/interface.h"
#include "framework/base/clock.h"
#include "framework/base/processors.h"
#include "framework/base/shared_file.h"
#include "framework/plugin/transport_identity.h"

// The process's own address, its peers, and the connections to them.
namespace ashlar::tcp {
namespace {

constexpr float kLatencyNs = 8000;
constexpr float kCopyBandwidth = 2.5F, kGetBandwidth = 4;
constexpr std::uint32_t kMaxShort = 1024;
// So long a process leaves it to its peer, which calls, to make the connection.
constexpr std::uint64_t kGuestTime = 2'000'000'000;

}  // namespace

ashlar_result Interface::open() {
  Ports ports;
  const std::string wanted_ports = config_.ports != nullptr ? config_.ports : "0";
  if (!Ports::parse(wanted_ports, &ports)) {
    const ashlar_fact given = {.name = "value", .text = wanted_ports.c_str(), .number = 0};
    return ashlar_fail_with(&host_, ASHLAR_ERR_ARG, "tcp.ports", &given, 1);
  }
  if (!wanted_.wrong().empty()) {
    const ashlar_fact given = {.name = "value", .text = wanted_.wrong().c_str(), .number = 0};
    return ashlar_fail_with(&host_, ASHLAR_ERR_ARG, "tcp.interfaces", &given, 1);
  }
  own_ = own_addresses(wanted_);
  const bool loopback_only =
      std::all_of(own_.begin(), own_.end(), [](const OwnAddress& own) { return own.candidate.reach == ip::kLoopback; });
  epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  if (epoll_) door_ = Door::of_process(ports, loopback_only);
  if (door_ == nullptr) {
    const ashlar_fact facts[] = {{.name = "value", .text = wanted_ports.c_str(), .number = 0},
                                 {.name = "error", .text = std::strerror(errno), .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "tcp.listen", facts, std::size(facts));
  }
  address_.nonce = random_nonce();
  address_.host = host_here();
  address_.port = door_->port();
  if (!draw(address_.secret.data(), address_.secret.size()))
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "tcp.no_secret", nullptr, 0);
  for (const OwnAddress& own : own_)
    if (door_->family() == own.candidate.family || (door_->family() == 6 && !loopback_only))
      address_.candidates.push_back(own.candidate);
  if (address_.candidates.empty()) {
    const ashlar_fact given = {.name = "value", .text = config_.interfaces, .number = 0};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "tcp.no_interface", &given, 1);
  }
  door_->enter(nonce(), &inbox_);
  set_door(true);
  epoll_event visitors = {};
  visitors.events = EPOLLIN;
  visitors.data.ptr = &inbox_;
  if (inbox_.fd() >= 0) (void)epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, inbox_.fd(), &visitors);
  pace_.begin_look();
  return ASHLAR_OK;
}

ashlar_result Interface::write_address(void* out, std::uint32_t* length) const {
  *length = write(address_, out, *length);
  if (*length != 0) return ASHLAR_OK;
  return ashlar_fail_no_memory(&host_, "the address of the process", sizeof(Candidate));
}

void Interface::set_door(bool open) {
  if (open == door_open_) return;
  epoll_event door = {};
  door.events = EPOLLIN;
  door.data.ptr = door_.get();
  (void)epoll_ctl(epoll_.get(), open ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, door_->fd(), &door);
  door_open_ = open;
}

// --- peers ---

Hello Interface::hello_to(std::uint64_t target) const {
  Hello hello = {};
  hello.magic = kMagic;
  hello.version = kWireVersion;
  hello.port = address_.port;
  hello.target = target;
  hello.sender = nonce();
  plugin::job_of(context_, hello.job);
  hello.rank = context_.self;
  return hello;
}

std::uint32_t Interface::exchange_with(const SocketAddress& to) const {
  if (to.loopback() || proved_.contains(to.text(false))) return 0;
  return static_cast<std::uint32_t>(config_.full_exchange);
}

Endpoint& Interface::endpoint_of(std::uint64_t of, std::uint32_t number) {
  std::unique_ptr<Endpoint>& entry = peers_[of];
  if (entry != nullptr) return *entry;
  entry = std::make_unique<Endpoint>(blocks_, Outbox::Levels{.waiting = counters.buffered, .kept = counters.kept});
  Endpoint& peer = *entry;
  peer.ops = &kEndpointOps;
  peer.capabilities = ASHLAR_CAP_GET | ASHLAR_CAP_WAKE_FD | ASHLAR_CAP_FAILURE;
  peer.max_short = kMaxShort;
  peer.max_bcopy = static_cast<std::uint32_t>(config_.max_bcopy);
  peer.peer = number;
  peer.latency_ns = kLatencyNs;
  peer.bandwidth_copy = kCopyBandwidth;
  peer.bandwidth_get = kGetBandwidth;
  peer.get_from = static_cast<std::uint32_t>(std::min<std::uint64_t>(config_.get_from, UINT32_MAX));
  peer.iface = this;
  peer.nonce = of;
  return peer;
}

Endpoint* Interface::find(std::uint64_t of) {
  const auto known = peers_.find(of);
  return known == peers_.end() ? nullptr : known->second.get();
}

ashlar_result Interface::connect(std::uint32_t number, const void* bytes, std::uint32_t length, ashlar_endpoint** out) {
  Address address;
  const ashlar_result read = parse(host_, number, bytes, length, &address);
  if (read != ASHLAR_OK) return read;
  const ashlar_fact whose = {.name = "peer", .text = nullptr, .number = number};
  if (address.nonce == nonce()) return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "tcp.itself", &whose, 1);
  Endpoint& peer = endpoint_of(address.nonce, number);
  peer.peer = number;
  peer.address = std::move(address);
  peer.known = true;
  peer.may_have_rails = may_have_rails(peer.address);
  if (peer.dial != nullptr && peer.dial->asking()) {
    peer.dial.reset();
    peer.way = Endpoint::Way::kDown;
  }
  if (peer.way != Endpoint::Way::kFailed) need_connection(peer);
  if (peer.dial != nullptr) peer.dial->look();
  if (peer.way == Endpoint::Way::kFailed || (peer.dial != nullptr && peer.dial->refused_at_once())) {
    const std::string reasons = peer.dial != nullptr ? peer.dial->reasons() : peer.failure;
    const ashlar_fact facts[] = {{.name = "peer", .text = nullptr, .number = number},
                                 {.name = "reasons", .text = reasons.c_str(), .number = 0}};
    peer.dial.reset();
    if (peer.way != Endpoint::Way::kFailed) peer.way = Endpoint::Way::kDown;
    return ashlar_fail_with(&host_, ASHLAR_ERR_PROC_ABORTED, "tcp.unreachable", facts, std::size(facts));
  }
  peer.held = true;
  peer.leaves = false;
  *out = &peer;
  return ASHLAR_OK;
}

void Interface::disconnect(Endpoint& peer) {
  peer.held = false;
  close_rails(peer);
  if (peer.rails != nullptr) peer.rails->end(false);
  peer.gets.clear();
  peer.meter.give_up_all();
  peer.unwanted_before = peer.out.next();
  if (peer.connection != nullptr) return peer.connection->say_bye(true);
  if (peer.out.has_messages() && peer.way != Endpoint::Way::kFailed) {
    peer.leaves = true;  // with the connection that brings what was taken
    return need_connection(peer);
  }
  if (peer.way == Endpoint::Way::kDialling || peer.way == Endpoint::Way::kExpecting) peer.way = Endpoint::Way::kDown;
  peer.dial.reset();
  peer.broken = {};
  peer.out.forget();
}

void Interface::forget(std::uint32_t number) {
  for (auto& [nonce, peer] : peers_)
    if (peer->peer == number && peer->way != Endpoint::Way::kFailed) {
      disconnect(*peer);
      peer->known = false;
      peer->peer = ASHLAR_NOBODY;
    }
}

void Interface::need_connection(Endpoint& peer) {
  if (peer.way != Endpoint::Way::kDown) return;
  // Who is not known here has to call; whether its process is there can be asked.
  if (!peer.known && (peer.broken.since == 0 || peer.port == 0)) return;
  peer.dial = std::make_unique<Dial>(*this, peer);
  if (has_guest_of(peer.nonce))
    peer.dial->wait();
  else
    peer.dial->start_round();
  pace_.heat();
}

/// Both may dial at one time; the one with the smaller nonce goes on, unless it has failed before and the other has
/// not.
Verdict Interface::verdict_on(const Hello& hello) {
  const auto known = peers_.find(hello.sender);
  if (known == peers_.end()) return Verdict::kGoOn;
  Endpoint& peer = *known->second;
  bool first = nonce() < hello.sender;
  if (peer.way == Endpoint::Way::kDialling && !peer.dial->asking()) {
    const bool failing = peer.dial->failing(), other_failing = hello.call == Call::kInVain;
    if (failing != other_failing) first = other_failing;
    if (first && peer.dial->trying()) return Verdict::kWait;
    peer.dial->wait();
  }
  const bool fresh = peer.connection != nullptr && peer.connection->dialled() && !peer.connection->heard();
  return fresh && first ? Verdict::kWait : Verdict::kGoOn;
}

bool Interface::has_guest_of(std::uint64_t of) const {
  return std::any_of(guests_.begin(), guests_.end(),
                     [&](const auto& guest) { return guest->sender() == of && clock() < guest->began() + kGuestTime; });
}

Standing Interface::standing_with(std::uint64_t of) const {
  const auto known = peers_.find(of);
  if (known == peers_.end()) return {};
  return {.epoch = known->second->epoch, .received = known->second->received, .next = 0};
}

/// The peer's first message over a new connection is its `next`-th. One that has given up messages begins behind them.
std::uint64_t Interface::messages_to_skip(Endpoint& peer, std::uint64_t next) {
  if (next > peer.received) peer.received = next;
  return peer.received - next;
}

void Interface::adopt(Endpoint& peer, Descriptor socket, bool dialled, const Standing& theirs) {
  peer.dial.reset();
  if (peer.connection != nullptr && !peer.connection->leaving())
    peer.broken = {.since = now_ns(), .at = peer.connection->at(), .reason = "the peer has found it broken"};
  // What the peer has not read of the old connection comes again over this one.
  discard(peer);
  if (!peer.out.resume_at(theirs.received)) return fail(peer, kOtherCount);
  peer.asked = 0;
  if (counters.connections.now.get() >= limit_) close_idle();
  connections_.push_back(std::make_unique<Connection>(*this, peer, std::move(socket), dialled));
  Connection& connection = *connections_.back();
  peer.connection = &connection;
  peer.way = Endpoint::Way::kUp;
  peer.left = false;
  peer.epoch = dialled ? std::max<std::uint64_t>(peer.epoch, theirs.epoch) + 1 : theirs.epoch;
  if (peer.broken.since != 0) tell_resumed(peer, connection.fd());
  peer.broken = {};
  const std::uint64_t to_skip = dialled ? 0 : messages_to_skip(peer, theirs.next);
  const Chosen chosen = {.frame = {.length = sizeof chosen.epoch,
                                   .kind = Kind::kChosen,
                                   .id = 0,
                                   .ack = peer.count(),
                                   .h0 = peer.received,
                                   .h1 = peer.out.first()},
                         .epoch = peer.epoch};
  peer.out.put_first(&chosen, sizeof chosen);
  for (const auto& [request, get] : peer.gets)
    if (get.whole == nullptr) ask(peer, request);
  connection.begin(to_skip);
  if (peer.leaves) connection.say_bye(true);
  peer.leaves = false;
  if (peer.rails != nullptr) peer.rails->first_back();
}

std::string Interface::interface_of(const SocketAddress& own) const {
  for (const OwnAddress& mine : own_)
    if (mine.candidate.family == own.family() &&
        std::memcmp(mine.candidate.bytes, own.bytes(), own.family() == 4 ? 4 : 16) == 0)
      return mine.interface;
  return own.text(false);
}

void Interface::tell_path(Endpoint& peer, int socket, unsigned tried, std::uint64_t ns, const std::string& lost) {
  if (peer.told || peer.peer == ASHLAR_NOBODY || host_.record == nullptr) return;
  peer.told = true;
  const SocketAddress to = SocketAddress::of_peer(socket);
  const std::string over = interface_of(SocketAddress::of_own(socket));
  char subject[48], because[200];
  std::snprintf(subject, sizeof subject, "path to peer %u", peer.peer);
  if (tried == 0)
    std::snprintf(because, sizeof because, "the peer dialled, proved the secret, and kept this connection");
  else
    std::snprintf(because, sizeof because, "the first of %u addresses to prove the secret%s, in %.1f ms", tried,
                  exchange_with(to) == 0 ? "" : " and to carry the full exchange both ways",
                  static_cast<double>(ns) / 1e6);
  host_.record("transport", subject, (to.text() + " over " + over).c_str(), because, lost.c_str(),
               "transport.tcp.interfaces, transport.tcp.ports");
}

void Interface::tell_flight(Endpoint& peer, const Flight& flight) {
  if (host_.record == nullptr || peer.peer == ASHLAR_NOBODY) return;
  char subject[48], chosen[48], because[200];
  if (flight.bounded() && !peer.told_flight) {
    peer.told_flight = true;
    std::snprintf(subject, sizeof subject, "bytes in flight to peer %u", peer.peer);
    std::snprintf(chosen, sizeof chosen, "at most %llu", static_cast<unsigned long long>(in_flight_));
    std::snprintf(because, sizeof because,
                  "they fill the path, whose round trip is %.0f us, and are in a cache yet when they are read (%s)",
                  flight.round_trip_ns() / 1e3,
                  config_.in_flight != 0      ? "as the parameter says"
                  : second_level_cache() == 0 ? "the system does not tell the size of caches"
                                              : "by the size of a processor's second-level cache");
    host_.record("transport", subject, chosen, because, "", "transport.tcp.in_flight");
  }
  if (get_chunk_ == 0 && !peer.told_piece && flight.piece() != Flight().piece()) {
    peer.told_piece = true;
    std::snprintf(subject, sizeof subject, "pieces read by peer %u", peer.peer);
    std::snprintf(chosen, sizeof chosen, "%llu bytes so far", static_cast<unsigned long long>(flight.piece()));
    std::snprintf(because, sizeof because, "the path has delivered %.1f GB/s, and others wait for a piece",
                  flight.bytes_per_ns());
    host_.record("transport", subject, chosen, because, "", "transport.tcp.get_chunk");
  }
}

}  // namespace ashlar::tcp
