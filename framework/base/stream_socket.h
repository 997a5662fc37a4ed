#pragma once
#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>

namespace ashlar {

/// Whether a call on a descriptor that does not block has returned `result` because it would have: the call is to be
/// made again when the descriptor is ready. Directly behind the call: it looks at errno.
inline bool is_later(ssize_t result) { return result < 0 && (errno == EAGAIN || errno == EINTR); }

/// Sends of `out` what the socket, which does not block, has room for, and takes that out. False: the other side has
/// hung up.
inline bool send_some(int socket, std::string* out) {
  constexpr std::size_t kPiece = 1u << 16;
  std::size_t sent = 0;
  ssize_t n = 0;
  while (sent < out->size()) {
    n = send(socket, out->data() + sent, std::min(out->size() - sent, kPiece), MSG_NOSIGNAL);
    if (n < 0) break;
    sent += static_cast<std::size_t>(n);
  }
  const bool open = n >= 0 || is_later(n);
  out->erase(0, sent);
  return open;
}

}  // namespace ashlar
