#pragma once
#include <sys/socket.h>
#include <unistd.h>

namespace ashlar {

/// The process at the other end of a connected Unix socket, as the system noted it when that one connected, or began to
/// listen. False: the socket has none.
inline bool socket_peer(int fd, ucred* peer) {
  *peer = {};
  socklen_t size = sizeof *peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) == 0;
}

/// Whether that process is of this one's user. Names of abstract sockets are open to all users: who finds or takes one
/// is no friend for that alone.
inline bool is_own_user(int fd) {
  ucred peer;
  return socket_peer(fd, &peer) && peer.uid == geteuid();
}

}  // namespace ashlar
