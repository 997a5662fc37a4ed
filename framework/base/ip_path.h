#pragma once
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace ashlar::ip {

/// What the system has measured of a TCP connection; 0: it has not.
struct PathInfo {
  double round_trip_ns = 0;  // the shortest
  double bytes_per_ns = 0;   // of what was delivered of late
};

/// False: the system does not tell.
inline bool read_path_info(int socket, PathInfo* out) {
  tcp_info info = {};
  socklen_t length = sizeof info;
  // Older systems fill less of it.
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
  if (length < offsetof(tcp_info, tcpi_delivery_rate) + sizeof info.tcpi_delivery_rate) return false;
  out->round_trip_ns = 1e3 * info.tcpi_min_rtt;
  out->bytes_per_ns = static_cast<double>(info.tcpi_delivery_rate) / 1e9;
  return true;
}

}  // namespace ashlar::ip
