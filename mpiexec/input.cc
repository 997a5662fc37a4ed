#include "mpiexec/input.h"
#include "framework/base/stream_socket.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace ashlar::mpiexec {

InputForwarder::InputForwarder(int from, int to) : from_(from), to_(to) { fcntl(to_, F_SETFL, O_NONBLOCK); }

InputForwarder::~InputForwarder() { close_rank(); }

void InputForwarder::close_rank() {
  if (to_ >= 0) close(to_);
  to_ = -1;
}

int InputForwarder::wants_read() const {
  return to_ >= 0 && !ended_ && !paused_ && head_ == buffer_.size() ? from_ : -1;
}

int InputForwarder::wants_write() const { return to_ >= 0 && head_ < buffer_.size() ? to_ : -1; }

void InputForwarder::read_some() {
  if (isatty(from_) && tcgetpgrp(from_) != getpgrp()) {
    paused_ = true;
    return;
  }
  buffer_.resize(1u << 16);
  head_ = 0;
  const ssize_t n = read(from_, buffer_.data(), buffer_.size());
  buffer_.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  if (is_later(n)) return;
  if (n <= 0) {
    ended_ = true;
    close_rank();
    return;
  }
  write_some();
}

void InputForwarder::write_some() {
  while (head_ < buffer_.size()) {
    const ssize_t n = write(to_, buffer_.data() + head_, buffer_.size() - head_);
    if (n > 0) {
      head_ += static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && errno == EAGAIN) {
      return;
    } else {
      // The rank has closed its input or ended: leave the rest where it is.
      close_rank();
      return;
    }
  }
}

}  // namespace ashlar::mpiexec
