#include "components/rma/shm/far.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

namespace ashlar::rma::shm {
namespace {

constexpr std::size_t kRuns = 128;                    // of each side in one system call
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

/// All of the runs, whose bytes lie one behind the other here. A system call that ends early has copied whole runs and
/// a part of the next one.
int copy_runs(Direction direction, std::int32_t pid, std::byte* here, std::span<const iovec> runs) {
  std::array<iovec, FarMemory::kRuns> rest;
  std::copy(runs.begin(), runs.end(), rest.begin());
  std::size_t next = 0, left = 0;
  for (const iovec& run : runs) left += run.iov_len;
  while (left > 0) {
    const iovec local{here, left};
    const std::size_t count = runs.size() - next;
    const ssize_t now = direction == Direction::kPut ? process_vm_writev(pid, &local, 1, &rest[next], count, 0)
                                                     : process_vm_readv(pid, &local, 1, &rest[next], count, 0);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return errno;
    if (now == 0) return EFAULT;
    here += now;
    left -= static_cast<std::size_t>(now);
    for (auto gone = static_cast<std::size_t>(now); gone > 0;) {
      const std::size_t part = std::min(gone, rest[next].iov_len);
      rest[next] = {static_cast<std::byte*>(rest[next].iov_base) + part, rest[next].iov_len - part};
      gone -= part;
      if (rest[next].iov_len == 0) ++next;
    }
  }
  return 0;
}

}  // namespace

int ProcessMemory::read(void* to, std::span<const iovec> runs) {
  return copy_runs(Direction::kGet, pid_, static_cast<std::byte*>(to), runs);
}
int ProcessMemory::write(const void* from, std::span<const iovec> runs) {
  return copy_runs(Direction::kPut, pid_, static_cast<std::byte*>(const_cast<void*>(from)), runs);
}

}  // namespace ashlar::rma::shm
