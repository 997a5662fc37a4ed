#include "framework/comm/port_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace ashlar::comm {

bool is_later(std::ptrdiff_t result) { return result < 0 && (errno == EAGAIN || errno == EINTR); }

PortStream::Read PortStream::collect(std::size_t bytes) {
  while (in.size() < bytes) {
    char some[64];
    const ssize_t n = recv(socket.get(), some, std::min(bytes - in.size(), sizeof some), 0);
    if (n <= 0) return is_later(n) ? Read::kSome : Read::kEnd;
    in.append(some, static_cast<std::size_t>(n));
  }
  return Read::kAll;
}

PortStream::Read PortStream::drop(std::size_t bytes) {
  while (dropped < bytes) {
    char some[4096];
    const ssize_t n = recv(socket.get(), some, std::min(bytes - dropped, sizeof some), 0);
    if (n <= 0) return is_later(n) ? Read::kSome : Read::kEnd;
    dropped += static_cast<std::size_t>(n);
  }
  return Read::kAll;
}

bool PortStream::flush() {
  while (!out.empty()) {
    const ssize_t n = send(socket.get(), out.data(), out.size(), MSG_NOSIGNAL);
    if (n <= 0) return is_later(n);
    out.erase(0, static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace ashlar::comm
