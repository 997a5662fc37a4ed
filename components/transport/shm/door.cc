#include "components/transport/shm/door.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

namespace ashlar::shm {
namespace {

struct Request {
  std::uint64_t cookie, nonce;
};

socklen_t name_of(std::uint64_t nonce, sockaddr_un* out) {
  *out = {};
  out->sun_family = AF_UNIX;  // sun_path[0] stays 0: the abstract name space
  const int n = std::snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "ashlar-%016" PRIx64, nonce);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
}

Descriptor make_socket() { return Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

int peer_of(int fd, ucred* who) {
  socklen_t size = sizeof *who;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, who, &size);
}

}  // namespace

void Door::open(std::uint64_t nonce, std::uint64_t cookie) {
  nonce_ = nonce;
  cookie_ = cookie;
  Descriptor s = make_socket();
  sockaddr_un name;
  const socklen_t length = name_of(nonce, &name);
  if (!s || bind(s.get(), reinterpret_cast<const sockaddr*>(&name), length) != 0 || listen(s.get(), 512) != 0) return;
  listener_ = std::move(s);
}

void Door::serve(int fd) {
  if (!listener_) return;
  for (;;) {
    Descriptor visitor(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!visitor) break;
    visitors_.push_back(std::move(visitor));
  }
  std::erase_if(visitors_, [&](const Descriptor& v) { return answer(v.get(), fd); });
}

// True when the visitor has been dealt with.
bool Door::answer(int visitor, int fd) const {
  Request request;
  const ssize_t n = recv(visitor, &request, sizeof request, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  ucred who;
  if (n != sizeof request || request.cookie != cookie_ || request.nonce != nonce_ || peer_of(visitor, &who) != 0 ||
      who.uid != geteuid()) {
    return true;  // closing is the answer
  }
  char byte = 1;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  return sendmsg(visitor, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno != EAGAIN;
}

int Knock::begin(std::uint64_t nonce, std::uint64_t cookie) {
  if (!socket_) socket_ = make_socket();
  if (!socket_) return errno;
  sockaddr_un name;
  const socklen_t length = name_of(nonce, &name);
  if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&name), length) != 0) return errno;
  ucred who;
  if (peer_of(socket_.get(), &who) == 0) owner_ = who.pid;
  const Request request{cookie, nonce};
  return send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL) == sizeof request ? 0 : errno;
}

int Knock::take(Descriptor* fd) {
  char byte;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t n = recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (n < 0) return errno == EINTR ? EAGAIN : errno;
  const cmsghdr* rights = CMSG_FIRSTHDR(&message);
  if (n == 0 || !rights || rights->cmsg_type != SCM_RIGHTS) return ECONNREFUSED;
  int got = -1;
  std::memcpy(&got, CMSG_DATA(rights), sizeof got);
  *fd = Descriptor(got);
  return 0;
}

}  // namespace ashlar::shm
