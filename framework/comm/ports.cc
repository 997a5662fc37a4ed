#include "framework/comm/ports.h"

#include <mpi.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/base/ip_ports.h"
#include "framework/base/ip_socket.h"
#include "framework/base/socket_peer.h"
#include "framework/comm/port_wire.h"

namespace ashlar::comm {
namespace {

constexpr std::uint64_t kHelloTimeoutNs = 5'000'000'000;
constexpr std::size_t kMostVisitors = 256;

socklen_t address_of(std::uint64_t place, sockaddr_un* out) {
  *out = {};
  out->sun_family = AF_UNIX;  // sun_path[0] stays 0: the abstract name space
  const int n = std::snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "ashlar-port-%016" PRIx64, place);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
}

std::string text_of(const ip::Candidate& address) {
  return ip::SocketAddress(address.family, address.bytes, 0).text(false);
}

}  // namespace

Status draw(void* bytes, std::size_t length) {
  for (std::size_t done = 0; done < length;) {
    const ssize_t n = getrandom(static_cast<char*>(bytes) + done, length - done, 0);
    if (n < 0 && errno != EINTR) return fail(MPI_ERR_OTHER, "port.no_random", {{"lower", std::strerror(errno)}});
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return {};
}

Descriptor make_local_socket() { return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

int connect_local(int socket, std::uint64_t place) {
  sockaddr_un address;
  const socklen_t length = address_of(place, &address);
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), length) == 0 ? 0 : errno;
}

Status Port::open(const PortNetwork* network) {
  name_.host = ip::host_here();
  ASHLAR_TRY(draw(&name_.place, sizeof name_.place));
  ASHLAR_TRY(draw(name_.key.data(), name_.key.size()));
  listener_ = make_local_socket();
  sockaddr_un address;
  const socklen_t length = address_of(name_.place, &address);
  if (!listener_ || bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      listen(listener_.get(), SOMAXCONN) != 0)
    return fail(MPI_ERR_PORT, "port.not_opened", {{"lower", std::strerror(errno)}});
  return network != nullptr ? open_network(*network) : Status();
}

Status Port::open_network(const PortNetwork& network) {
  ip::Ports ports;
  if (!ip::Ports::parse(network.ports, &ports))
    return fail(MPI_ERR_INFO_VALUE, "port.no_tcp_port", {{"value", network.ports}});
  for (const ip::OwnAddress& own : ip::own_addresses(ip::Interfaces(network.interfaces)))
    if (own.candidate.reach != ip::kLoopback && name_.addresses.size() < PortName::kMostAddresses &&
        (network.address.empty() || text_of(own.candidate) == network.address))
      name_.addresses.push_back(own.candidate);
  if (name_.addresses.empty() && !network.address.empty())
    return fail(MPI_ERR_INFO_VALUE, "port.no_address", {{"value", network.address}});
  if (name_.addresses.empty()) return {};
  network_listener_ = ip::listen_on(ports, false);
  if (!network_listener_ && (errno == EADDRINUSE || errno == EACCES))
    return fail(MPI_ERR_PORT, "port.tcp_taken", {{"value", network.ports}, {"lower", std::strerror(errno)}});
  if (network_listener_) name_.port = ip::SocketAddress::of_own(network_listener_.get()).port();
  if (!network_listener_) name_.addresses.clear();  // the system has no such network
  return {};
}

void Port::let_in(const Descriptor& listener, Visitor::From from) {
  while (listener && visitors_.size() < kMostVisitors) {
    Descriptor socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    if (from == Visitor::From::kThisHost && !is_own_user(socket.get())) continue;
    if (from == Visitor::From::kNetwork) ip::prepare_stream(socket.get(), kUserTimeoutNs, kKeepaliveNs);
    visitors_.emplace_back(std::move(socket), from, now_ns() + kHelloTimeoutNs);
  }
}

bool Port::take(Channel* out) {
  let_in(listener_, Visitor::From::kThisHost);
  let_in(network_listener_, Visitor::From::kNetwork);
  visitors_.remove_if([this](Visitor& visitor) { return !visitor.hear(name_); });
  for (auto visitor = visitors_.begin(); visitor != visitors_.end();) {
    if (!visitor->known()) {
      ++visitor;
      continue;
    }
    const bool here = visitor->welcome(name_, out);
    visitor = visitors_.erase(visitor);
    if (here) return true;
  }
  return false;
}

Status Ports::open(const PortNetwork* network, std::string* name) {
  auto port = std::make_shared<Port>();
  ASHLAR_TRY(port->open(network));
  *name = port->name().text();
  const std::lock_guard guard(mutex_);
  open_.emplace(*name, std::move(port));
  return {};
}

Status Ports::close(const char* name) {
  const std::lock_guard guard(mutex_);
  return open_.erase(name) == 1 ? Status() : fail(MPI_ERR_PORT, "port.not_open");
}

std::shared_ptr<Port> Ports::find(const char* name) {
  const std::lock_guard guard(mutex_);
  const auto port = open_.find(name);
  return port == open_.end() ? nullptr : port->second;
}

}  // namespace ashlar::comm
