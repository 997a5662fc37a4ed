#include "mpiexec/way_prober.h"

#include <net/if.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/ip_ports.h"
#include "framework/base/stream_socket.h"
#include "mpiexec/start_errors.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::array<char, 8> kWayMark = {'a', 's', 'h', 'c', 'h', 'e', 'c', '1'};
constexpr std::size_t kMostGuests = 256;  // at one time; others wait
constexpr std::uint32_t kMostBytes = 16 << 20;
constexpr char kCaller = 1, kListener = 2;  // whose proof it is

std::span<const std::uint8_t> bytes_at(const void* from, std::size_t bytes) {
  return {static_cast<const std::uint8_t*>(from), bytes};
}

/// An IPv6 address that only says over which link it is to be tried.
bool is_link_local(const ip::SocketAddress& address) {
  return address.any.sa_family == AF_INET6 && address.v6.sin6_scope_id != 0;
}

/// "10.0.0.2"; of a link-local address also over which link: "fe80::2%eth0".
std::string way_name(const ip::SocketAddress& address) {
  char link[IF_NAMESIZE];
  return address.text(false) + (is_link_local(address) && if_indextoname(address.v6.sin6_scope_id, link) != nullptr
                                    ? std::string("%") + link
                                    : "");
}

}  // namespace

WayProber::WayProber(WayRules rules) : rules_(std::move(rules)) {}

Status WayProber::open() {
  const ip::Interfaces wanted(rules_.interfaces);
  if (!wanted.wrong().empty()) return fail(kErrArg, "check.interfaces", {{"value", brief(wanted.wrong())}});
  ip::Ports ports;
  if (!ip::Ports::parse(rules_.ports, &ports)) return fail(kErrArg, "check.ports", {{"value", brief(rules_.ports)}});
  own_ = ip::own_addresses(wanted);
  if (own_.empty()) return fail(kErrOther, "check.no_interface", {{"value", brief(rules_.interfaces)}});
  door_ = ip::listen_on(ports, false);
  if (!door_) return fail(kErrOther, "check.no_port", {{"value", brief(rules_.ports)}, {"lower", error_words(errno)}});
  port_ = ip::SocketAddress::of_own(door_.get()).port();
  return {};
}

std::string WayProber::addresses() const {
  std::string out;
  for (const ip::OwnAddress& own : own_)
    out.append(reinterpret_cast<const char*>(&own.candidate), sizeof own.candidate);
  return out;
}

/// Which side of which greeting knows the secret.
Digest WayProber::proof_of(const WayHello& hello, char side) const {
  return hmac(bytes_at(rules_.secret.data(), rules_.secret.size()),
              {bytes_at(&side, 1), bytes_at(&hello, offsetof(WayHello, proof))});
}

std::vector<ip::Candidate> WayProber::candidates_of(const WayTarget& target) {
  std::vector<ip::Candidate> all(target.addresses.size() / sizeof(ip::Candidate));
  if (!all.empty()) std::memcpy(all.data(), target.addresses.data(), all.size() * sizeof(ip::Candidate));
  return all;
}

void WayProber::try_ways(const std::vector<WayTarget>& targets, std::uint64_t now) {
  asked_ = true;
  for (const WayTarget& target : targets) {
    const bool same_place = target.place == ip::host_here();
    for (const ip::SocketAddress& to : ip::ways_to(candidates_of(target), target.port, same_place, own_))
      waiting_.push_back({.host = target.host, .to = to});
  }
  start_calls(now);
}

void WayProber::start_calls(std::uint64_t now) {
  while (!waiting_.empty() && calls_.size() < kMostCalls) {
    start(waiting_.front(), now);
    waiting_.pop_front();
  }
}

void WayProber::start(const Way& way, std::uint64_t now) {
  Call& call = calls_.emplace_back();
  call.way = way;
  call.result = results_.size();
  results_.push_back({.host = way.host, .to = way_name(way.to), .from = {}, .good = false, .ns = 0, .why_not = {}});
  call.began = now;
  call.deadline = now + rules_.timeout_ns;
  call.socket = ip::make_socket(way.to.family());
  if (!call.socket) return end(call, now, error_words(errno));
  if (connect(call.socket.get(), &way.to.any, way.to.length) != 0 && errno != EINPROGRESS)
    end(call, now, std::strerror(errno));
}

bool WayProber::say_hello(Call& call) {
  call.hello = {
      .mark = kWayMark, .from = rules_.host, .to = call.way.host, .bytes = rules_.bytes, .nonce = {}, .proof = {}};
  if (getrandom(call.hello.nonce.data(), call.hello.nonce.size(), 0) != static_cast<ssize_t>(call.hello.nonce.size()))
    return false;
  call.hello.proof = proof_of(call.hello, kCaller);
  call.out.assign(reinterpret_cast<const char*>(&call.hello), sizeof call.hello);
  call.stage = Stage::kAnswer;
  results_[call.result].from = own_name(ip::SocketAddress::of_own(call.socket.get()));
  return true;
}

void WayProber::go_on(Call& call, std::uint64_t now) {
  if (call.stage == Stage::kConnecting) {
    int error = 0;
    socklen_t length = sizeof error;
    (void)getsockopt(call.socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) return end(call, now, std::strerror(error));
    if (!say_hello(call)) return end(call, now, "the system gives no random bytes");
  }
  if (!write_some(call)) return end(call, now, text("the connection broke: %s", std::strerror(errno)));
  if (call.stage == Stage::kAnswer) {
    const Read read = collect(call, sizeof(Digest));
    if (read == Read::kSome) return;
    Digest proof = {};
    if (read == Read::kAll) std::memcpy(proof.data(), call.in.data(), proof.size());
    if (read == Read::kEnd)
      return end(call, now,
                 "what is there closed the connection: it is not this host, or something between cuts it off");
    if (!same(proof, proof_of(call.hello, kListener))) return end(call, now, "what answers there is not this host");
    call.stage = Stage::kBytes;
    call.to_send = call.to_drop = rules_.bytes;
    if (!write_some(call)) return end(call, now, text("the connection broke: %s", std::strerror(errno)));
  }
  const Read read = drop(call);
  if (read == Read::kEnd)
    return end(call, now, text("the connection broke before %u bytes had come back", rules_.bytes));
  if (read == Read::kAll) end(call, now, "");
}

void WayProber::end(Call& call, std::uint64_t now, const std::string& why_not) {
  WayResult& result = results_[call.result];
  result.good = why_not.empty();
  result.why_not = why_not;
  result.ns = now - call.began;
  call.over = true;
  call.socket.reset();
  if (result.good) give_links_up(call.way.host, now);
}

/// Most links do not lead to the host with a link-local address, and it takes the whole time to know: they are not
/// waited for once the host has been reached.
void WayProber::give_links_up(std::uint32_t host, std::uint64_t now) {
  const auto is_one = [host](const Way& way) { return way.host == host && is_link_local(way.to); };
  waiting_.remove_if(is_one);
  for (Call& call : calls_)
    if (!call.over && is_one(call.way)) end(call, now, "given up: the host was reached another way");
}

std::string WayProber::late_words(const Call& call) const {
  const double seconds = static_cast<double>(rules_.timeout_ns) / 1e9;
  switch (call.stage) {
    case Stage::kConnecting:
      return text("no answer within %g s", seconds);
    case Stage::kAnswer:
      return text("what is connected there does not answer within %g s", seconds);
    default:
      return text(
          "a connection is made, but %u bytes both ways do not pass within %g s: long packets are lost on the way",
          rules_.bytes, seconds);
  }
}

/// False: the connection is broken, and errno says why.
bool WayProber::write_some(Connection& connection) {
  static const std::array<char, 1u << 16> kZeros = {};
  for (;;) {
    const std::size_t left = connection.out.size() - connection.written;
    if (left == 0 && connection.to_send == 0) return true;
    const char* const from = left > 0 ? connection.out.data() + connection.written : kZeros.data();
    const std::size_t bytes =
        left > 0 ? left : static_cast<std::size_t>(std::min<std::uint64_t>(connection.to_send, kZeros.size()));
    const ssize_t n = send(connection.socket.get(), from, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) return is_later(n);
    if (left > 0)
      connection.written += static_cast<std::size_t>(n);
    else
      connection.to_send -= static_cast<std::uint64_t>(n);
  }
}

WayProber::Read WayProber::collect(Connection& connection, std::size_t bytes) {
  while (connection.in.size() < bytes) {
    char buffer[sizeof(WayHello)];
    const ssize_t n =
        recv(connection.socket.get(), buffer, std::min(sizeof buffer, bytes - connection.in.size()), MSG_DONTWAIT);
    if (is_later(n)) return Read::kSome;
    if (n <= 0) return Read::kEnd;
    connection.in.append(buffer, static_cast<std::size_t>(n));
  }
  return Read::kAll;
}

/// Reads the bytes that were sent only to see whether they pass.
WayProber::Read WayProber::drop(Connection& connection) {
  while (connection.to_drop > 0) {
    char buffer[1u << 14];
    const ssize_t n =
        recv(connection.socket.get(), buffer, std::min<std::uint64_t>(sizeof buffer, connection.to_drop), MSG_DONTWAIT);
    if (is_later(n)) return Read::kSome;
    if (n <= 0) return Read::kEnd;
    connection.to_drop -= static_cast<std::uint64_t>(n);
  }
  return Read::kAll;
}

void WayProber::accept_guests(std::uint64_t now) {
  while (guests_.size() < kMostGuests) {
    Descriptor socket(accept4(door_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    Guest& guest = guests_.emplace_back();
    guest.socket = std::move(socket);
    guest.began = now;
    guest.deadline = now + 2 * rules_.timeout_ns;
  }
}

/// A stranger is told nothing.
void WayProber::go_on(Guest& guest) {
  guest.over = true;
  if (!guest.known) {
    const Read read = collect(guest, sizeof(WayHello));
    if (read == Read::kSome) guest.over = false;
    if (read != Read::kAll) return;
    std::memcpy(&guest.hello, guest.in.data(), sizeof guest.hello);
    const WayHello& hello = guest.hello;
    if (hello.mark != kWayMark || hello.to != rules_.host || hello.from == rules_.host || hello.bytes > kMostBytes ||
        !same(hello.proof, proof_of(hello, kCaller)))
      return;
    guest.known = true;
    const Digest proof = proof_of(hello, kListener);
    guest.out.assign(reinterpret_cast<const char*>(proof.data()), proof.size());
    guest.to_drop = hello.bytes;
  }
  if (guest.to_drop > 0) {
    const Read read = drop(guest);
    if (read == Read::kEnd) return;
    if (read == Read::kAll) guest.to_send = guest.hello.bytes;
  }
  if (!write_some(guest)) return;
  // The caller closes it, or its time is over. It has nothing more to say.
  char byte = 0;
  const bool sent_all = guest.to_drop == 0 && guest.to_send == 0 && guest.written == guest.out.size();
  guest.over = sent_all && !is_later(recv(guest.socket.get(), &byte, 1, MSG_DONTWAIT));
}

void WayProber::add(std::vector<pollfd>* fds) {
  const auto events_of = [](const Connection& c) {
    return static_cast<short>(POLLIN | (c.to_send > 0 || c.written < c.out.size() ? POLLOUT : 0));
  };
  fds->push_back({guests_.size() < kMostGuests ? door_.get() : -1, POLLIN, 0});
  for (const Call& call : calls_)
    fds->push_back({call.socket.get(), call.stage == Stage::kConnecting ? short{POLLOUT} : events_of(call), 0});
  for (const Guest& guest : guests_) fds->push_back({guest.socket.get(), events_of(guest), 0});
}

void WayProber::handle(const pollfd* fds, std::uint64_t now) {
  const pollfd& door = *fds++;
  for (Call& call : calls_) {
    const bool ready = (fds++)->revents != 0;
    if (ready && !call.over) go_on(call, now);
    if (!call.over && now >= call.deadline) end(call, now, late_words(call));
  }
  for (Guest& guest : guests_) {
    if ((fds++)->revents != 0) go_on(guest);
    guest.over = guest.over || now >= guest.deadline;
  }
  if (door.revents != 0) accept_guests(now);
  calls_.remove_if([](const Call& call) { return call.over; });
  guests_.remove_if([](const Guest& guest) { return guest.over; });
  start_calls(now);
}

std::uint64_t WayProber::next_ns() const {
  std::uint64_t next = ~std::uint64_t{0};
  for (const Call& call : calls_) next = std::min(next, call.over ? 0 : call.deadline);
  for (const Guest& guest : guests_) next = std::min(next, guest.deadline);
  return next;
}

/// "10.0.0.1 (eth0)"
std::string WayProber::own_name(const ip::SocketAddress& address) const {
  for (const ip::OwnAddress& own : own_)
    if (own.candidate.family == address.family() &&
        std::memcmp(own.candidate.bytes, address.bytes(), address.family() == 4 ? 4 : 16) == 0)
      return address.text(false) + " (" + own.interface + ")";
  return address.text(false);
}

}  // namespace ashlar::mpiexec
