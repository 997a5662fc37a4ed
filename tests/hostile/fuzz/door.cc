// What a peer, or a stranger, says on the socket that passes a segment's descriptor. The input's first byte is how many
// bytes the first message has; the rest is a second one. Only the right request gets the descriptor.
#include "components/transport/shm/door.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// Part of the seeds, so that requests with one right half occur.
constexpr std::uint64_t kCookie = 0x6565656565656565, kNonce = 0x4141414141414141;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar::shm;
  // A name of this process's own: several fuzzers run at one time.
  static const std::uint64_t nonce = kNonce ^ static_cast<std::uint64_t>(getpid());
  static Door& door = *[] {
    auto* made = new Door;
    made->open(nonce, kCookie, 4, *new Counters);
    return made;
  }();
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  const int n = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "ashlar-%016" PRIx64, nonce);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(n));
  const ashlar::Descriptor s(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connect(s.get(), reinterpret_cast<const sockaddr*>(&name), length) != 0) std::abort();
  const std::size_t first = size == 0 ? 0 : std::min<std::size_t>(data[0], size - 1);
  if (size > 0) send(s.get(), data + 1, first, MSG_NOSIGNAL);
  if (size > 1 + first) send(s.get(), data + 1 + first, size - 1 - first, MSG_NOSIGNAL);
  door.serve(STDIN_FILENO);
  char byte;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const bool got = recvmsg(s.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) > 0;
  std::uint64_t request[2] = {};
  if (first == sizeof request) std::memcpy(request, data + 1, sizeof request);
  if (got) close(*reinterpret_cast<int*>(CMSG_DATA(CMSG_FIRSTHDR(&message))));
  if (got != (request[0] == kCookie && request[1] == nonce)) std::abort();
  return 0;
}
