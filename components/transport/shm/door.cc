#include "components/transport/shm/door.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "components/transport/shm/abstract_name.h"
#include "framework/base/clock.h"
#include "framework/base/socket_peer.h"
#include "framework/base/stream_socket.h"

namespace ashlar::shm {
namespace {

constexpr std::uint64_t kRequestTimeoutNs = 1'000'000'000;
constexpr int kMostAccepted = 64;

struct Request {
  std::uint64_t cookie, nonce;
};

Descriptor make_socket() { return Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

}  // namespace

Door::~Door() {
  if (!connections_.empty()) count(counters_->clients, ~std::uint64_t{connections_.size()} + 1);
}

void Door::open(std::uint64_t nonce, std::uint64_t cookie, std::size_t clients, Counters& count_in) {
  counters_ = &count_in;
  nonce_ = nonce;
  cookie_ = cookie;
  most_connections_ = std::max<std::size_t>(clients, 1);
  Descriptor s = make_socket();
  sockaddr_un name;
  const socklen_t length = abstract_name("", nonce, &name);
  if (!s || bind(s.get(), reinterpret_cast<const sockaddr*>(&name), length) != 0 || listen(s.get(), 512) != 0) return;
  listener_ = std::move(s);
}

void Door::serve(int fd) {
  if (!listener_) return;
  accept_connections();
  const std::size_t over = std::erase_if(connections_, [&](const Connection& c) { return answer(c, fd); });
  if (over != 0) count(counters_->clients, ~std::uint64_t{over} + 1);
}

// Bounded in each call, so that a process that connects again and again does not keep this one from its work.
void Door::accept_connections() {
  for (int i = 0; i < kMostAccepted && connections_.size() < most_connections_; ++i) {
    Descriptor client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) return;
    if (!is_own_user(client.get())) {
      turn_away();
      continue;
    }
    count(counters_->clients);
    connections_.push_back({.socket = std::move(client), .until_ns = now_ns() + kRequestTimeoutNs});
    if (connections_.size() > counters_->clients_most) counters_->clients_most = connections_.size();
  }
}

bool Door::answer(const Connection& connection, int fd) const {
  Request request;
  const ssize_t n = recv(connection.socket.get(), &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC);
  if (is_later(n)) {
    const bool late = now_ns() >= connection.until_ns;
    if (late) turn_away();
    return late;
  }
  if (n != sizeof request || request.cookie != cookie_ || request.nonce != nonce_) {
    turn_away();
    return true;
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
  const ssize_t sent = sendmsg(connection.socket.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0) count(counters_->passed);
  return sent >= 0 || errno != EAGAIN;
}

int DescriptorRequest::begin(std::uint64_t nonce, std::uint64_t cookie) {
  if (!socket_) socket_ = make_socket();
  if (!socket_) return errno;
  sockaddr_un name;
  const socklen_t length = abstract_name("", nonce, &name);
  if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&name), length) != 0) return errno;
  // Another user's process behind the name does not get the cookie.
  ucred server;
  if (!socket_peer(socket_.get(), &server) || server.uid != geteuid()) return EACCES;
  owner_ = server.pid;
  const Request request{cookie, nonce};
  return send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL) == sizeof request ? 0 : errno;
}

int DescriptorRequest::take(Descriptor* fd) {
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
