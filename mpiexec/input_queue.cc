#include "mpiexec/input_queue.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace ashlar::mpiexec {

void InputQueue::open(int to) {
  to_ = Descriptor(to);
  if (to_) fcntl(to_.get(), F_SETFL, O_NONBLOCK);
}

void InputQueue::add(std::string_view bytes) {
  if (to_) queue_.append(bytes);
}

void InputQueue::end() {
  ended_ = true;
  if (head_ == queue_.size()) to_.reset();
}

std::size_t InputQueue::write_some() {
  const std::size_t before = head_;
  while (to_ && head_ < queue_.size()) {
    const ssize_t n = write(to_.get(), queue_.data() + head_, queue_.size() - head_);
    if (n > 0) {
      head_ += static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {
      break;
    } else if (n == 0 || errno != EINTR) {
      to_.reset();  // the rank has closed its input or ended
    }
  }
  const std::size_t given = head_ - before;
  if (head_ == queue_.size()) {
    queue_.clear();
    head_ = 0;
    if (ended_) to_.reset();
  }
  return given;
}

}  // namespace ashlar::mpiexec
