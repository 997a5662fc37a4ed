#include "mpiexec/strangers.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace ashlar::mpiexec {
namespace {

/// Address and port of one end, as the kernel has them.
using End = std::pair<std::uint32_t, std::uint16_t>;

struct Connection {
  End own, peer;
  unsigned user = 0;
};

/// All connections of the machine over IPv4, each end's with its owner.
std::vector<Connection> connections() {
  std::vector<Connection> out;
  std::FILE* const file = std::fopen("/proc/net/tcp", "re");
  if (!file) return out;
  char line[256];
  while (std::fgets(line, sizeof line, file)) {
    Connection c;
    unsigned own_port = 0, peer_port = 0;
    if (std::sscanf(line, " %*d: %x:%x %x:%x %*x %*x:%*x %*x:%*x %*x %u", &c.own.first, &own_port, &c.peer.first,
                    &peer_port, &c.user) != 5)
      continue;
    c.own.second = static_cast<std::uint16_t>(own_port);
    c.peer.second = static_cast<std::uint16_t>(peer_port);
    out.push_back(c);
  }
  std::fclose(file);
  return out;
}

bool end_of(int fd, int (*name)(int, sockaddr*, socklen_t*), End* out) {
  sockaddr_in address = {};
  socklen_t length = sizeof address;
  if (name(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0 || address.sin_family != AF_INET) return false;
  *out = {address.sin_addr.s_addr, ntohs(address.sin_port)};
  return true;
}

bool listens(int fd) {
  int answer = 0;
  socklen_t length = sizeof answer;
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &answer, &length) == 0 && answer != 0;
}

struct Socket {
  int fd;  // a duplicate: the number of the original may become another file's meanwhile
  End own, peer;
};

/// Our connections over IPv4, and the ports on which we listen.
std::vector<Socket> sockets(std::vector<std::uint16_t>* ports) {
  std::vector<Socket> out;
  DIR* const list = opendir("/proc/self/fd");
  if (!list) return out;
  while (const dirent* entry = readdir(list)) {
    const int fd = fcntl(std::atoi(entry->d_name), F_DUPFD_CLOEXEC, 3);
    Socket s{fd, {}, {}};
    if (fd < 0) continue;
    if (end_of(fd, getsockname, &s.own) && listens(fd)) ports->push_back(s.own.second);
    if (end_of(fd, getpeername, &s.peer))
      out.push_back(s);
    else
      close(fd);
  }
  closedir(list);
  return out;
}

}  // namespace

int hang_up_on_strangers() {
  int count = 0;
  std::vector<std::uint16_t> ports;
  const std::vector<Socket> ours = sockets(&ports);
  std::vector<Connection> all;
  if (!ours.empty()) all = connections();
  for (const Socket& s : ours) {
    const bool accepted = std::find(ports.begin(), ports.end(), s.own.second) != ports.end();
    const bool strange = accepted && std::any_of(all.begin(), all.end(), [&s](const Connection& c) {
                           return c.own == s.peer && c.peer == s.own && c.user != geteuid();
                         });
    if (strange && shutdown(s.fd, SHUT_RDWR) == 0) ++count;
    close(s.fd);
  }
  return count;
}

}  // namespace ashlar::mpiexec
