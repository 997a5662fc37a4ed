#pragma once
#include <sys/socket.h>
#include <sys/un.h>

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace ashlar::shm {

/// The name of a socket of the interface with this nonce, in the abstract name space: no file. `kind`: "" for the one
/// that passes descriptors.
inline socklen_t abstract_name(const char* kind, std::uint64_t nonce, sockaddr_un* out) {
  *out = {};
  out->sun_family = AF_UNIX;  // sun_path[0] stays 0
  const int n = std::snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "ashlar-%s%016" PRIx64, kind, nonce);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
}

}  // namespace ashlar::shm
