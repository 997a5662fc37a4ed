#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "framework/base/descriptor.h"

namespace ashlar::ip {

/// An IP address and a port, of either family.
struct SocketAddress {
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  };
  socklen_t length = 0;

  SocketAddress() : v6{} {}
  /// `family`: 4 or 6; `bytes`: 4 or 16 of them; `scope`: index of the interface of a link-local address.
  SocketAddress(int family, const std::uint8_t* bytes, std::uint16_t port, std::uint32_t scope = 0);
  /// The address behind an IPv4-mapped one too. 4 or 6.
  int family() const { return any.sa_family == AF_INET || IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) ? 4 : 6; }
  const std::uint8_t* bytes() const {
    if (any.sa_family == AF_INET) return reinterpret_cast<const std::uint8_t*>(&v4.sin_addr);
    return v6.sin6_addr.s6_addr + (family() == 4 ? 12 : 0);
  }
  std::uint16_t port() const;
  bool loopback() const { return family() == 4 ? bytes()[0] == 127 : IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) != 0; }
  /// "10.0.0.2:40000", "[fe80::1]:40000"; without the port: "10.0.0.2".
  std::string text(bool with_port = true) const;

  static SocketAddress of_peer(int socket);
  static SocketAddress of_own(int socket);
};

/// A non-blocking socket of that family, close-on-exec. Without one: errno.
Descriptor make_socket(int family);

/// What is written leaves at once, and a host that answers no more is noticed: data may be unacknowledged for
/// `user_timeout_ns`, and after `keepalive_ns` without traffic it is asked whether it is there. 0: the system's time,
/// and it is not asked.
void prepare_stream(int socket, std::uint64_t user_timeout_ns, std::uint64_t keepalive_ns);
/// Lets the system acknowledge what has come at once, where it would wait for an answer to send the acknowledgement
/// with (Linux: 40 ms and more). A sender with a small congestion window keeps the rest of a message until then.
void acknowledge_now(int socket);
/// The system keeps about `bytes` at most of what was sent and is not acknowledged, its own records counted; 0: as many
/// as it finds right. False: it cannot be told to (Linux before 5.14), and nothing has changed.
bool bound_send_buffer(int socket, std::uint64_t bytes);

}  // namespace ashlar::ip
