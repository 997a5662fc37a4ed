#include "framework/base/ip_socket.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <climits>
#include <cstring>

namespace ashlar::ip {
namespace {

constexpr int kQuestions = 3;  // keepalive probes without an answer

void set(int socket, int level, int option, int value) {
  // A system that knows an option not at all still carries messages.
  (void)setsockopt(socket, level, option, &value, sizeof value);
}

}  // namespace

SocketAddress::SocketAddress(int family, const std::uint8_t* bytes, std::uint16_t port, std::uint32_t scope) : v6{} {
  if (family == 4) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, bytes, 4);
    length = sizeof v4;
  } else {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, bytes, 16);
    v6.sin6_scope_id = scope;
    length = sizeof v6;
  }
}

std::uint16_t SocketAddress::port() const { return ntohs(any.sa_family == AF_INET ? v4.sin_port : v6.sin6_port); }

std::string SocketAddress::text(bool with_port) const {
  char host[INET6_ADDRSTRLEN] = "?";
  const bool four = family() == 4;
  (void)inet_ntop(four ? AF_INET : AF_INET6, bytes(), host, sizeof host);
  if (!with_port) return host;
  return four ? std::string(host) + ":" + std::to_string(port())
              : "[" + std::string(host) + "]:" + std::to_string(port());
}

SocketAddress SocketAddress::of_peer(int socket) {
  SocketAddress address;
  address.length = sizeof address.v6;
  (void)getpeername(socket, &address.any, &address.length);
  return address;
}

SocketAddress SocketAddress::of_own(int socket) {
  SocketAddress address;
  address.length = sizeof address.v6;
  (void)getsockname(socket, &address.any, &address.length);
  return address;
}

Descriptor make_socket(int family) {
  return Descriptor(socket(family == 4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
}

void prepare_stream(int socket, std::uint64_t user_timeout_ns, std::uint64_t keepalive_ns) {
  constexpr std::uint64_t kMs = 1'000'000, kSecond = 1'000'000'000;
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  if (user_timeout_ns != 0)
    set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(std::max(user_timeout_ns / kMs, std::uint64_t{1})));
  if (keepalive_ns == 0) return;
  const int seconds = static_cast<int>(std::max(keepalive_ns / kSecond, std::uint64_t{1}));
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, std::max(seconds / 2, 1));
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, kQuestions);
}

void acknowledge_now(int socket) { set(socket, IPPROTO_TCP, TCP_QUICKACK, 1); }

bool bound_send_buffer([[maybe_unused]] int socket, [[maybe_unused]] std::uint64_t bytes) {
#ifdef SO_BUF_LOCK
  // Without this option a bound could not be taken away again.
  constexpr int kSendBuffer = 1;
  int bounds = 0;
  socklen_t length = sizeof bounds;
  if (getsockopt(socket, SOL_SOCKET, SO_BUF_LOCK, &bounds, &length) != 0) return false;
  if (bytes == 0)
    set(socket, SOL_SOCKET, SO_BUF_LOCK, bounds & ~kSendBuffer);
  else  // the system doubles what it is told
    set(socket, SOL_SOCKET, SO_SNDBUF, static_cast<int>(std::min<std::uint64_t>(bytes / 2, INT_MAX)));
  return true;
#else
  return false;
#endif
}

}  // namespace ashlar::ip
