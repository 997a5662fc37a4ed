#include "mpiexec/control.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

#include "framework/base/socket_peer.h"
#include "framework/base/stream_socket.h"
#include "framework/plugin/launch_board.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::uint64_t kSilence = 5'000'000'000;
constexpr std::size_t kMostWaiting = 1024;
constexpr std::size_t kMostRelayed = 64u << 20;
constexpr std::size_t kPiece = 1u << 16;

socklen_t address_of(std::uint64_t place, sockaddr_un* out) {
  *out = {};
  out->sun_family = AF_UNIX;  // sun_path[0] stays 0: the abstract name space
  const int n = std::snprintf(out->sun_path + 1, sizeof out->sun_path - 1, launch::kControlSocket,
                              static_cast<unsigned long long>(place));
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
}

/// A message of one byte that has a descriptor with it.
struct Passed {
  iovec part = {};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};

  msghdr message(char* byte) {
    part = {.iov_base = byte, .iov_len = 1};
    msghdr out = {};
    out.msg_iov = &part;
    out.msg_iovlen = 1;
    out.msg_control = room;
    out.msg_controllen = sizeof room;
    return out;
  }
};

/// Reads the byte with which a caller says what it wants, and the connection that is passed on with it, if there is
/// one.
ssize_t read_wish(const Descriptor& socket, char* wish, Descriptor* passed_on) {
  Passed passed;
  msghdr message = passed.message(wish);
  const ssize_t n = recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const head = n == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (head == nullptr || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) return n;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
  *passed_on = Descriptor(fd);
  return n;
}

}  // namespace

void ControlSocket::open() {
  std::uint64_t place = 0;
  if (getrandom(&place, sizeof place, 0) != static_cast<ssize_t>(sizeof place) || place == 0) return;
  Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address;
  const socklen_t length = address_of(place, &address);
  if (!listener || bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0)
    return;
  listener_ = std::move(listener);
  place_ = place;
}

Descriptor ControlSocket::accept() {
  for (;;) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket || is_own_user(socket.get())) return socket;
  }
}

bool pass_on(std::uint64_t place, char wish, const Descriptor& socket) {
  const Descriptor to(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address;
  const socklen_t length = address_of(place, &address);
  if (!to || connect(to.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 || !is_own_user(to.get()))
    return false;
  Passed passed;
  msghdr message = passed.message(&wish);
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = socket.get();
  std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  return sendmsg(to.get(), &message, MSG_NOSIGNAL) == 1;
}

void Callers::admit(Descriptor socket) {
  if (waiting_.size() < kMostWaiting) waiting_.push_back({.socket = std::move(socket), .until_ns = 0});
}

void Callers::add(std::vector<pollfd>* fds) {
  first_ = fds->size();
  polled_ = waiting_.size();
  for (const Waiting& waiting : waiting_) fds->push_back({waiting.socket.get(), POLLIN, 0});
}

std::vector<Callers::Caller> Callers::handle(const std::vector<pollfd>& fds, std::uint64_t now) {
  std::vector<Caller> out;
  std::deque<Waiting> still;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    Waiting& waiting = waiting_[i];
    if (waiting.until_ns == 0) waiting.until_ns = now + kSilence;
    if (i < polled_ && fds[first_ + i].revents) {
      char wish = 0;
      Descriptor passed_on;
      const ssize_t n = read_wish(waiting.socket, &wish, &passed_on);
      if (n == 1) out.push_back({.wish = wish, .socket = std::move(passed_on ? passed_on : waiting.socket)});
      if (!is_later(n)) continue;
    }
    if (now < waiting.until_ns) still.push_back(std::move(waiting));
  }
  waiting_ = std::move(still);
  polled_ = 0;
  return out;
}

std::size_t RelayedCalls::find(std::uint64_t call) const {
  const auto is_it = [call](const Call& other) { return other.number == call; };
  return static_cast<std::size_t>(std::find_if(calls_.begin(), calls_.end(), is_it) - calls_.begin());
}

void RelayedCalls::open(std::uint64_t call, Descriptor socket) {
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  calls_.push_back({.number = call, .socket = std::move(socket), .out = {}});
}

void RelayedCalls::take(std::uint64_t call, std::string_view bytes) {
  const std::size_t at = find(call);
  if (at == calls_.size()) return;
  calls_[at].out.append(bytes);
  calls_[at].ended = calls_[at].ended || bytes.empty();
  (void)send_some(calls_[at].socket.get(), &calls_[at].out);
}

void RelayedCalls::add(std::vector<pollfd>* fds) {
  first_ = fds->size();
  polled_ = calls_.size();
  for (const Call& call : calls_)
    fds->push_back({call.socket.get(), static_cast<short>(POLLIN | (call.out.empty() ? 0 : POLLOUT)), 0});
}

void RelayedCalls::handle(const std::vector<pollfd>& fds, Events& events) {
  std::deque<Call> still;
  for (std::size_t i = 0; i < calls_.size(); ++i)
    if (go_on(calls_[i], i < polled_ && fds[first_ + i].revents != 0, events)) still.push_back(std::move(calls_[i]));
  calls_ = std::move(still);
  polled_ = 0;
}

/// False: the call is over.
bool RelayedCalls::go_on(Call& call, bool readable, Events& events) {
  if (!send_some(call.socket.get(), &call.out) || call.out.size() > kMostRelayed) {
    if (!call.ended) events.relayed(call.number, {});
    return false;
  }
  if (call.ended) return !call.out.empty();
  if (!readable) return true;
  char bytes[kPiece];
  const ssize_t n = recv(call.socket.get(), bytes, sizeof bytes, 0);
  if (is_later(n)) return true;
  events.relayed(call.number, {bytes, static_cast<std::size_t>(std::max<ssize_t>(n, 0))});
  return n > 0;
}

}  // namespace ashlar::mpiexec
