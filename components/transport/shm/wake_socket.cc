#include "components/transport/shm/wake_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "components/transport/shm/abstract_name.h"

namespace ashlar::shm {
namespace {

constexpr int kMostTaken = 64;  // datagrams in one call, so that a sender cannot keep this process here

Descriptor make_socket() { return Descriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

enum class Taken { kNothing, kOwn, kStrangers };

Taken take_one(int fd) {
  char byte;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0) return Taken::kNothing;
  const cmsghdr* const credentials = CMSG_FIRSTHDR(&message);
  if (credentials == nullptr || credentials->cmsg_type != SCM_CREDENTIALS) return Taken::kStrangers;
  ucred sender;
  std::memcpy(&sender, CMSG_DATA(credentials), sizeof sender);
  return sender.uid == geteuid() ? Taken::kOwn : Taken::kStrangers;
}

}  // namespace

int WakeSocket::open(std::uint64_t nonce) {
  if (own_ || refused_) return own_.get();
  refused_ = true;
  Descriptor s = make_socket();
  sockaddr_un name;
  const socklen_t length = abstract_name("wake", nonce, &name);
  const int on = 1;
  if (!s || setsockopt(s.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
      bind(s.get(), reinterpret_cast<const sockaddr*>(&name), length) != 0)
    return -1;
  own_ = std::move(s);
  refused_ = false;
  return own_.get();
}

bool WakeSocket::clear() {
  for (int i = 0; own_ && i < kMostTaken; ++i) {
    const Taken taken = take_one(own_.get());
    if (taken == Taken::kNothing) break;
    if (taken == Taken::kOwn) continue;
    own_.reset();
    refused_ = true;
  }
  return !refused_;
}

bool WakeSocket::send_to(std::uint64_t nonce) {
  if (!sender_) sender_ = make_socket();
  if (!sender_) return false;
  sockaddr_un name;
  const socklen_t length = abstract_name("wake", nonce, &name);
  const char byte = 0;
  // A full queue is readable already.
  return sendto(sender_.get(), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&name),
                length) == 1 ||
         errno == EAGAIN;
}

}  // namespace ashlar::shm
