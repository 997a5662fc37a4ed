#include "components/transport/common/liveness.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "framework/base/ip_path.h"

namespace ashlar::network {
namespace {

constexpr int kBacklog = 1024;
// Seconds for which the system waits for the first word of a connection before it queues it. Those that ask say none
// and reset it, so the queue of a process that computes never fills.
constexpr int kWithoutAWord = 60;

union Any {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

socklen_t to_socket(const HostAddress& address, Any* out) {
  *out = {};
  if (address.family == 4) {
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons(address.port);
    std::memcpy(&out->v4.sin_addr, address.bytes, 4);
    return sizeof out->v4;
  }
  out->v6.sin6_family = AF_INET6;
  out->v6.sin6_port = htons(address.port);
  out->v6.sin6_scope_id = address.scope;
  std::memcpy(&out->v6.sin6_addr, address.bytes, 16);
  return sizeof out->v6;
}

Descriptor make_socket(std::uint16_t family) {
  return Descriptor(socket(family == 4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

}  // namespace

void Liveness::open(const sockaddr* source) {
  HostAddress own = {};
  if (source == nullptr) return;
  if (source->sa_family == AF_INET) {
    own.family = 4;
    std::memcpy(own.bytes, &reinterpret_cast<const sockaddr_in*>(source)->sin_addr, 4);
  } else if (source->sa_family == AF_INET6) {
    own.family = 6;
    own.scope = reinterpret_cast<const sockaddr_in6*>(source)->sin6_scope_id;
    std::memcpy(own.bytes, &reinterpret_cast<const sockaddr_in6*>(source)->sin6_addr, 16);
  } else {
    return;
  }
  Any address;
  socklen_t length = to_socket(own, &address);
  door_ = make_socket(own.family);
  if (door_) (void)setsockopt(door_.get(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &kWithoutAWord, sizeof kWithoutAWord);
  if (!door_ || bind(door_.get(), &address.any, length) != 0 || listen(door_.get(), kBacklog) != 0 ||
      getsockname(door_.get(), &address.any, &length) != 0) {
    door_.reset();
    return;
  }
  own.port = ntohs(own.family == 4 ? address.v4.sin_port : address.v6.sin6_port);
  own_ = own;
}

void Liveness::let_go() {
  for (int i = 0; door_ && i < kBacklog; ++i)
    if (const Descriptor asked(accept4(door_.get(), nullptr, nullptr, SOCK_CLOEXEC)); !asked) return;
}

Liveness::Answer Liveness::ask(const HostAddress& whom) {
  if (whom.family == 0 || asking()) return Answer::kNone;
  Any address;
  const socklen_t length = to_socket(whom, &address);
  question_ = make_socket(whom.family);
  if (!question_) return Answer::kNone;
  if (connect(question_.get(), &address.any, length) == 0) return settle(0);
  // On one host the answer is there already.
  return errno == EINPROGRESS ? look(false) : settle(errno);
}

Liveness::Answer Liveness::look(bool silent) {
  pollfd connected = {.fd = question_.get(), .events = POLLOUT, .revents = 0};
  if (poll(&connected, 1, 0) == 1) {
    int error = 0;
    socklen_t length = sizeof error;
    (void)getsockopt(question_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    return settle(error);
  }
  return silent ? settle(ETIMEDOUT) : Answer::kPending;
}

Liveness::Answer Liveness::settle(int error) {
  if (error == 0) {
    ip::PathInfo path;
    if (ip::read_path_info(question_.get(), &path)) round_trip_ = static_cast<std::uint64_t>(path.round_trip_ns);
    // Both ends of this connection forget it at once; nothing was said.
    const linger at_once = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(question_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  question_.reset();
  if (error == 0) return Answer::kThere;
  reason_ = std::strerror(error);
  return error == ECONNREFUSED ? Answer::kRefused : Answer::kSilent;
}

}  // namespace ashlar::network
