#include "components/rma/shm/far.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

namespace ashlar::rma::shm {
namespace {

constexpr std::size_t kRuns = 128;                // of each side in one system call
constexpr std::size_t kMost = std::size_t{64} << 20;  // bytes of one system call, which a signal cannot end earlier

/// The pieces of `data` from packed offset `at` on, at most `most` bytes. Returns their bytes.
std::size_t pieces(const DataView& data, std::size_t at, std::size_t most, std::array<iovec, kRuns>* out,
                   std::size_t* count) {
  if (data.dense()) {
    const std::size_t left = static_cast<std::size_t>(data.bytes()) - at;
    (*out)[0] = {static_cast<std::byte*>(data.data) + at, std::min(left, most)};
    *count = 1;
    return (*out)[0].iov_len;
  }
  *count = datatype::runs(data, at, kRuns, out->data());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < *count; ++i) {
    iovec& piece = (*out)[i];
    piece.iov_len = std::min(piece.iov_len, most - bytes);
    bytes += piece.iov_len;
    if (bytes == most) *count = i + 1;
  }
  return bytes;
}

/// Cuts the list to `bytes`.
void cut(std::array<iovec, kRuns>* list, std::size_t* count, std::size_t bytes) {
  for (std::size_t i = 0; i < *count; ++i) {
    iovec& piece = (*list)[i];
    piece.iov_len = std::min(piece.iov_len, bytes);
    bytes -= piece.iov_len;
    if (bytes == 0) *count = i + 1;
  }
}

/// Copies from the front of both lists. Returns the bytes, or -1 with errno.
ssize_t copy_once(Direction direction, std::int32_t pid, const std::array<iovec, kRuns>& local, std::size_t locals,
                  const std::array<iovec, kRuns>& remote, std::size_t remotes) {
  for (;;) {
    const ssize_t done = direction == Direction::kPut
                             ? process_vm_writev(pid, local.data(), locals, remote.data(), remotes, 0)
                             : process_vm_readv(pid, local.data(), locals, remote.data(), remotes, 0);
    if (done >= 0 || errno != EINTR) return done;
  }
}

}  // namespace

int copy_far(Direction direction, std::int32_t pid, std::uint64_t window, const DataView& origin, const Place& place) {
  const DataView target = place.in(reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(window)));
  const auto all = static_cast<std::size_t>(origin.bytes());
  for (std::size_t at = 0; at < all;) {
    std::array<iovec, kRuns> local, remote;
    std::size_t locals = 0, remotes = 0;
    const std::size_t here = pieces(origin, at, kMost, &local, &locals);
    const std::size_t there = pieces(target, at, kMost, &remote, &remotes);
    const std::size_t bytes = std::min(here, there);
    if (bytes == 0) return EFAULT;
    cut(&local, &locals, bytes);
    cut(&remote, &remotes, bytes);
    const ssize_t done = copy_once(direction, pid, local, locals, remote, remotes);
    if (done < 0) return errno;
    if (done == 0) return EFAULT;
    at += static_cast<std::size_t>(done);
  }
  return 0;
}

namespace {

int copy_bytes(Direction direction, std::int32_t pid, std::uint64_t at, void* here, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const iovec local{static_cast<std::byte*>(here) + done, bytes - done};
    const iovec remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(at + done)), bytes - done};
    const ssize_t now = direction == Direction::kPut ? process_vm_writev(pid, &local, 1, &remote, 1, 0)
                                                     : process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return errno;
    if (now == 0) return EFAULT;
    done += static_cast<std::size_t>(now);
  }
  return 0;
}

}  // namespace

int ProcessMemory::read(void* to, MPI_Aint offset, std::size_t bytes) {
  return copy_bytes(Direction::kGet, pid_, window_ + static_cast<std::uint64_t>(offset), to, bytes);
}
int ProcessMemory::write(const void* from, MPI_Aint offset, std::size_t bytes) {
  return copy_bytes(Direction::kPut, pid_, window_ + static_cast<std::uint64_t>(offset), const_cast<void*>(from), bytes);
}

}  // namespace ashlar::rma::shm
