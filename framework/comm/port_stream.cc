#include "framework/comm/port_stream.h"
#include "framework/base/stream_socket.h"

#include <sys/socket.h>

#include <algorithm>

namespace ashlar::comm {

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

bool PortStream::flush() { return send_some(socket.get(), &out); }

}  // namespace ashlar::comm
