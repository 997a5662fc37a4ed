#include "components/io/uring/ring.h"

#include <algorithm>
#include <cerrno>
#include <new>

namespace ashlar::io::uring {
namespace {

constexpr std::uint64_t kMostBytes = 0x7fff'f000;  // of one transfer

}  // namespace

int Ring::make(unsigned entries, std::unique_ptr<Ring>* out) {
  std::unique_ptr<Ring> ring(new (std::nothrow) Ring);
  if (ring == nullptr) return ENOMEM;
  const int made = io_uring_queue_init(entries, &ring->ring_, 0);
  if (made < 0) return -made;
  ring->made_ = true;
  // A child of the process has no part in it.
  if (const int kept = io_uring_ring_dontfork(&ring->ring_); kept < 0) return -kept;
  *out = std::move(ring);
  return 0;
}

Ring::~Ring() {
  if (made_) io_uring_queue_exit(&ring_);
}

/// False: the system gives none.
bool Ring::take_completion(const ashlar_io_piece* pieces, std::uint32_t* incomplete) {
  io_uring_cqe* done = nullptr;
  int waited = -EINTR;
  while (waited == -EINTR) waited = io_uring_wait_cqe(&ring_, &done);
  if (waited < 0) {
    sound_ = false;
    return false;
  }
  const auto index = static_cast<std::uint32_t>(io_uring_cqe_get_data64(done));
  if (done->res < 0 || static_cast<std::uint64_t>(done->res) != pieces[index].length)
    *incomplete = std::min(*incomplete, index);
  io_uring_cqe_seen(&ring_, done);
  return true;
}

// Memory that a transfer reads or writes must not be given back before the transfer is complete: what is under way is
// waited for, whatever else fails.
std::uint32_t Ring::move(int descriptor, bool writes, const ashlar_io_piece* pieces, std::uint32_t count) {
  std::uint32_t queued = 0, sent = 0, complete = 0, incomplete = count;
  while (complete < queued || (sound_ && queued < count && incomplete == count)) {
    while (sound_ && queued < count && incomplete == count) {
      io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
      if (entry == nullptr) break;
      const ashlar_io_piece& piece = pieces[queued];
      const auto length = static_cast<unsigned>(std::min<std::uint64_t>(piece.length, kMostBytes));
      if (writes)
        io_uring_prep_write(entry, descriptor, piece.memory, length, piece.offset);
      else
        io_uring_prep_read(entry, descriptor, piece.memory, length, piece.offset);
      io_uring_sqe_set_data64(entry, queued++);
    }
    if (sent < queued) {
      const int now = io_uring_submit_and_wait(&ring_, 1);
      if (now > 0) sent += static_cast<std::uint32_t>(now);
      // The system has no room for another one: those under way make some.
      const bool later = now == -EINTR || ((now == -EAGAIN || now == -EBUSY) && complete < sent);
      if (now < 0 && !later) {
        sound_ = false;
        queued = sent;  // the others are forgotten with the ring
        incomplete = std::min(incomplete, sent);
      }
    }
    if (complete < sent) {
      if (!take_completion(pieces, &incomplete)) break;
      ++complete;
      for (unsigned more = io_uring_cq_ready(&ring_); more > 0; --more, ++complete)
        if (!take_completion(pieces, &incomplete)) break;
    }
  }
  return complete == queued ? incomplete : 0;
}

void Rings::begin(std::uint64_t most, unsigned entries) {
  const std::lock_guard guard(mutex_);
  most_ = most;
  entries_ = entries;
}

std::unique_ptr<Ring> Rings::take() {
  const std::lock_guard guard(mutex_);
  std::unique_ptr<Ring> ring;
  if (!free_.empty()) {
    ring = std::move(free_.back());
    free_.pop_back();
  } else if (made_ < most_ && Ring::make(entries_, &ring) == 0) {
    ++made_;
  }
  return ring;
}

void Rings::give_back(std::unique_ptr<Ring> ring) {
  const std::lock_guard guard(mutex_);
  if (ring->sound())
    free_.push_back(std::move(ring));
  else
    --made_;
}

void Rings::clear() {
  const std::lock_guard guard(mutex_);
  free_.clear();
  made_ = 0;
}

}  // namespace ashlar::io::uring
