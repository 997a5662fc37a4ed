#include "mpiexec/remote_input.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ashlar::mpiexec {

int RemoteInput::wants_read(std::size_t room) const { return ended_ || paused_ || room == 0 ? -1 : STDIN_FILENO; }

std::string_view RemoteInput::read_some(std::size_t room) {
  static char buffer[1u << 16];
  if (isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp()) {
    paused_ = true;
    return {};
  }
  const ssize_t n = read(STDIN_FILENO, buffer, std::min(room, sizeof buffer));
  if (n > 0) return {buffer, static_cast<std::size_t>(n)};
  ended_ = n == 0 || (errno != EINTR && errno != EAGAIN);
  return {};
}

}  // namespace ashlar::mpiexec
