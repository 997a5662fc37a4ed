#include "components/rma/shm/far.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "framework/datatype/copy.h"
#include "framework/rma/pieces.h"

namespace ashlar::rma::shm {
namespace {

constexpr std::size_t kRuns = FarMemory::kRuns;       // of each side in one system call
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

/// Copies between two layouts, from packed byte `at` on, as the kernel does it.
int copy_pieces(Direction direction, std::int32_t pid, const DataView& origin, const DataView& target, std::size_t at) {
  const auto all = static_cast<std::size_t>(origin.bytes());
  while (at < all) {
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

/// Reads short runs together with the gaps between them, because each run that the kernel has to find takes as long as
/// copying 2 KiB. A gap that is shorter than a page lies in the pages of the runs around it, so it can be read where
/// they can. What it holds is dropped.
class GapReader {
 public:
  explicit GapReader(std::int32_t pid) : pid_(pid) {}

  /// Whether so many of the runs lie so near to each other that this pays.
  static bool pays(std::span<const iovec> runs) {
    std::size_t near = 0;
    for (std::size_t i = 1; i < runs.size(); ++i)
      near += gap(runs[i - 1], runs[i]) <= kGap && runs[i].iov_len <= kGap ? 1 : 0;
    return near * 2 > runs.size();
  }

  int read(std::byte* to, std::span<const iovec> runs) {
    while (!runs.empty()) {
      const std::size_t taken = take(runs);
      if (taken == 0) {  // a long run goes alone
        if (const int failed = copy_runs(Direction::kGet, pid_, to, runs.first(1)); failed != 0) return failed;
        to += runs[0].iov_len;
        runs = runs.subspan(1);
        continue;
      }
      if (const int failed = copy_runs(Direction::kGet, pid_, buffer_.data(), {spans_.data(), count_}); failed != 0)
        return failed;
      for (std::size_t i = 0; i < taken; to += runs[i].iov_len, ++i)
        datatype::copy_piece(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(&buffer_[at_[i]]),
                             runs[i].iov_len);
      runs = runs.subspan(taken);
    }
    return 0;
  }

 private:
  static constexpr std::size_t kGap = 1024;
  static constexpr std::size_t kBuffer = 16 * 1024;

  /// From the end of one run to the beginning of the next; more than kGap where that lies before.
  static std::size_t gap(const iovec& run, const iovec& next) {
    return reinterpret_cast<std::uintptr_t>(next.iov_base) -
           (reinterpret_cast<std::uintptr_t>(run.iov_base) + run.iov_len);
  }

  /// Lays the first runs out in the buffer, as far as they fit. Returns how many.
  std::size_t take(std::span<const iovec> runs) {
    std::size_t used = 0, i = 0;
    for (count_ = 0; i < runs.size(); ++i) {
      const std::size_t between = i == 0 ? kGap + 1 : gap(runs[i - 1], runs[i]);
      const bool joins = between <= kGap;
      const std::size_t more = (joins ? between : 0) + runs[i].iov_len;
      if (more > kBuffer - used) break;
      if (joins) {
        spans_[count_ - 1].iov_len += more;
      } else {
        spans_[count_++] = runs[i];
      }
      used += more;
      at_[i] = static_cast<std::uint32_t>(used - runs[i].iov_len);
    }
    return i;
  }

  const std::int32_t pid_;
  std::size_t count_ = 0;                           // of spans_
  std::array<iovec, FarMemory::kRuns> spans_;       // what is read, one behind the other, into buffer_
  std::array<std::uint32_t, FarMemory::kRuns> at_;  // where the runs begin there
  std::array<std::byte, kBuffer> buffer_;
};

/// Targets of runs that are shorter are read together with their gaps.
constexpr std::size_t kShortRun = 256;

/// A get of short runs, from packed byte `at` on.
int gather(std::int32_t pid, const DataView& origin, const DataView& target, std::size_t at) {
  ProcessMemory memory(pid, 0);
  const auto all = static_cast<std::size_t>(origin.bytes());
  std::array<std::byte, 4096> packed;
  while (at < all) {
    std::array<iovec, kRuns> runs;
    std::size_t count = 0;
    const std::size_t bytes = pieces(target, at, packed.size(), &runs, &count);
    if (bytes == 0) return EFAULT;
    std::byte* const to = origin.dense() ? static_cast<std::byte*>(origin.data) + at : packed.data();
    if (const int failed = memory.read(to, {runs.data(), count}); failed != 0) return failed;
    if (!origin.dense()) datatype::unpack(origin, at, packed.data(), bytes);
    at += bytes;
  }
  return 0;
}

}  // namespace

int copy_far(Direction direction, std::int32_t pid, std::uint64_t window, const DataView& origin, const Place& place,
             std::size_t done) {
  const DataView target = place.in(reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(window)));
  if (direction == Direction::kGet && !target.dense() && mean_run(*target.type) < kShortRun)
    return gather(pid, origin, target, done);
  return copy_pieces(direction, pid, origin, target, done);
}

int ProcessMemory::read(void* to, std::span<const iovec> runs) {
  if (!GapReader::pays(runs)) return copy_runs(Direction::kGet, pid_, static_cast<std::byte*>(to), runs);
  GapReader reader(pid_);
  return reader.read(static_cast<std::byte*>(to), runs);
}
int ProcessMemory::write(const void* from, std::span<const iovec> runs) {
  return copy_runs(Direction::kPut, pid_, static_cast<std::byte*>(const_cast<void*>(from)), runs);
}

}  // namespace ashlar::rma::shm
