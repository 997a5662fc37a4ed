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
#include "framework/base/shared_file.h"
#include "framework/plugin/transport_identity.h"

// The process's own address, its peers, and the connections to them.
namespace ashlar::tcp {
namespace {

constexpr float kLatencyNs = 8000;
constexpr float kCopyBandwidth = 2.5F, kGetBandwidth = 4;
constexpr std::uint32_t kMaxShort = 1024;

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
  const bool one_node = wanted_.automatic() && context_.local_size >= context_.job_size;
  epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  if (epoll_) door_ = Door::of_process(ports, one_node);
  if (door_ == nullptr) {
    const ashlar_fact facts[] = {{.name = "value", .text = wanted_ports.c_str(), .number = 0},
                                 {.name = "error", .text = std::strerror(errno), .number = 0}};
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "tcp.listen", facts, std::size(facts));
  }
  own_ = own_addresses(wanted_, one_node);
  address_.nonce = random_nonce();
  address_.host = host_here();
  address_.port = door_->port();
  if (!draw(address_.secret.data(), address_.secret.size()))
    return ashlar_fail_with(&host_, ASHLAR_ERR_OTHER, "tcp.no_secret", nullptr, 0);
  for (const OwnAddress& own : own_)
    if (door_->family() == own.candidate.family || (door_->family() == 6 && !one_node))
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

Hello Interface::hello_to(const Endpoint& peer) const {
  Hello hello = {};
  hello.magic = kMagic;
  hello.version = kWireVersion;
  hello.target = peer.nonce;
  hello.sender = nonce();
  plugin::job_of(context_, hello.job);
  hello.rank = context_.self;
  return hello;
}

bool Interface::number_of(const Hello& hello, std::uint32_t* number) const {
  *number = plugin::number_of(context_, hello.job, hello.rank);
  return *number != ASHLAR_NOBODY;
}

std::uint32_t Interface::exchange_with(const SocketAddress& to) const {
  if (to.loopback() || proved_.contains(to.text(false))) return 0;
  return static_cast<std::uint32_t>(config_.full_exchange);
}

Endpoint& Interface::endpoint_of(std::uint64_t of, std::uint32_t number) {
  std::unique_ptr<Endpoint>& entry = peers_[of];
  if (entry != nullptr) return *entry;
  entry = std::make_unique<Endpoint>();
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
  *out = &peer;
  return ASHLAR_OK;
}

void Interface::disconnect(Endpoint& peer) {
  peer.held = false;
  peer.gets.clear();
  peer.serving.clear();
  if (peer.connection != nullptr) retire(*peer.connection);
  if (peer.way == Endpoint::Way::kDialling || peer.way == Endpoint::Way::kExpecting) peer.way = Endpoint::Way::kDown;
  peer.dial.reset();
  counters.buffered.lower(peer.pending.size());
  peer.pending.clear();
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
  if (peer.way != Endpoint::Way::kDown || !peer.known) return;
  peer.dial = std::make_unique<Dial>(*this, peer);
  if (has_guest_of(peer.nonce))
    peer.dial->wait();
  else
    peer.dial->start_round();
  pace_.heat();
}

/// Both may dial at one time; the one with the smaller nonce goes on.
Verdict Interface::verdict_on(const Hello& hello) {
  const auto known = peers_.find(hello.sender);
  if (known == peers_.end()) return Verdict::kGoOn;
  Endpoint& peer = *known->second;
  const bool first = nonce() < hello.sender;
  if (peer.way == Endpoint::Way::kDialling) {
    if (first && peer.dial->trying() && !peer.dial->failing()) return Verdict::kWait;
    peer.dial->wait();
  }
  const bool fresh = peer.connection != nullptr && peer.connection->dialled() && !peer.connection->heard();
  return fresh && first ? Verdict::kWait : Verdict::kGoOn;
}

bool Interface::has_guest_of(std::uint64_t of) const {
  return std::any_of(guests_.begin(), guests_.end(), [of](const auto& guest) { return guest->sender() == of; });
}

void Interface::adopt(Endpoint& peer, Descriptor socket, bool dialled) {
  peer.dial.reset();
  // The peer has said its last frame on the old one, which is still on its way.
  if (peer.connection != nullptr) peer.endings.push_back(peer.connection);
  if (counters.connections.now.get() >= limit_) close_idle();
  connections_.push_back(std::make_unique<Connection>(*this, peer, std::move(socket), dialled));
  Connection& connection = *connections_.back();
  peer.connection = &connection;
  peer.way = Endpoint::Way::kUp;
  peer.left = false;
  if (!peer.endings.empty()) connection.park(true);
  Stream first;
  if (dialled) {
    const Frame frame = {.length = 0, .kind = Kind::kChosen, .id = 0, .reserved = 0, .h0 = 0, .h1 = 0};
    first.append(&frame, sizeof frame);
    counters.buffered.raise(sizeof frame);
  }
  if (!peer.pending.empty()) first.append(peer.pending.data(), peer.pending.size());
  peer.pending.clear();
  connection.begin(std::move(first));
}

void Interface::tell_path(Endpoint& peer, int socket, unsigned tried, std::uint64_t ns, const std::string& lost) {
  if (peer.told || host_.record == nullptr) return;
  peer.told = true;
  const SocketAddress own = SocketAddress::of_own(socket), to = SocketAddress::of_peer(socket);
  std::string over = own.text(false);
  for (const OwnAddress& mine : own_)
    if (mine.candidate.family == own.family() &&
        std::memcmp(mine.candidate.bytes, own.bytes(), own.family() == 4 ? 4 : 16) == 0)
      over = mine.interface;
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

}  // namespace ashlar::tcp
