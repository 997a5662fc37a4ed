#include "framework/base/ip_ports.h"

#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "framework/base/ip_socket.h"

namespace ashlar::ip {
namespace {

constexpr int kBacklog = 4096;

bool read_port(const char* from, const char* to, std::uint16_t* port) {
  const auto [end, error] = std::from_chars(from, to, *port);
  return error == std::errc() && end == to && from != to;
}

Descriptor listen_at(const SocketAddress& at) {
  Descriptor socket = make_socket(at.any.sa_family == AF_INET ? 4 : 6);
  if (!socket) return socket;
  const int on = 1, off = 0;
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // One socket serves both families.
  if (at.any.sa_family == AF_INET6) (void)setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (bind(socket.get(), &at.any, at.length) == 0 && listen(socket.get(), kBacklog) == 0) return socket;
  const int error = errno;
  socket.reset();
  errno = error;
  return socket;
}

/// One port, on the families that the system has.
Descriptor listen_at(std::uint16_t port, bool loopback_only) {
  const std::uint8_t all[16] = {}, one[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, lo[4] = {127, 0, 0, 1};
  if (loopback_only) {
    Descriptor four = listen_at(SocketAddress(4, lo, port));
    return four || errno == EADDRINUSE ? std::move(four) : listen_at(SocketAddress(6, one, port));
  }
  Descriptor both = listen_at(SocketAddress(6, all, port));
  return both || errno == EADDRINUSE ? std::move(both) : listen_at(SocketAddress(4, all, port));
}

}  // namespace

bool Ports::parse(const std::string& text, Ports* out) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos) {
    if (!read_port(begin, end, &out->first)) return false;
    out->last = out->first;
    return true;
  }
  return read_port(begin, begin + dash, &out->first) && read_port(begin + dash + 1, end, &out->last) &&
         out->first != 0 && out->first <= out->last;
}

Descriptor listen_on(const Ports& ports, bool loopback_only) {
  const unsigned count = ports.last - ports.first + 1u;
  // Processes that start together begin at different ports of the range.
  const unsigned from = static_cast<unsigned>(getpid()) % count;
  Descriptor socket;
  for (unsigned i = 0; i < count; ++i) {
    socket = listen_at(static_cast<std::uint16_t>(ports.first + (from + i) % count), loopback_only);
    if (socket || errno != EADDRINUSE) break;
  }
  return socket;
}

}  // namespace ashlar::ip
