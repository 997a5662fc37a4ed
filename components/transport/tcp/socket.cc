#include "components/transport/tcp/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>

namespace ashlar::tcp {
namespace {

constexpr int kQuestions = 3;  // keepalive probes without an answer

void set(int socket, int level, int option, int value) {
  // A system that knows an option not at all still carries messages.
  (void)setsockopt(socket, level, option, &value, sizeof value);
}

}  // namespace

void prepare(int socket, const Config& config) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  constexpr std::uint64_t kMs = 1'000'000, kSecond = 1'000'000'000;
  if (config.user_timeout != 0)
    set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(std::max(config.user_timeout / kMs, std::uint64_t{1})));
  if (config.keepalive == 0) return;
  const int seconds = static_cast<int>(std::max(config.keepalive / kSecond, std::uint64_t{1}));
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, std::max(seconds / 2, 1));
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, kQuestions);
}

}  // namespace ashlar::tcp
