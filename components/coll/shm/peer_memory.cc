#include "components/coll/shm/peer_memory.h"

#include <mpi.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "components/coll/shm/module.h"
#include "framework/base/failure.h"
#include "framework/base/log.h"

namespace ashlar::coll::shm {
namespace {

constexpr std::size_t kWindow = 64 * 1024;

enum class Direction { kRead, kWrite };

/// 0, or an errno.
int copy(Direction direction, std::int32_t pid, std::byte* local, std::uint64_t remote, std::size_t length) {
  while (length > 0) {
    const iovec mine{local, length};
    const iovec theirs{reinterpret_cast<void*>(remote), length};
    const ssize_t n = direction == Direction::kRead ? process_vm_readv(pid, &mine, 1, &theirs, 1, 0)
                                                    : process_vm_writev(pid, &mine, 1, &theirs, 1, 0);
    if (n <= 0) return n < 0 ? errno : EIO;
    count_shared(module().counters.copies);
    local += n;
    remote += static_cast<std::uint64_t>(n);
    length -= static_cast<std::size_t>(n);
  }
  return 0;
}

void copy(Op& op, const Ticket& ticket, Direction direction, Rank other, std::uint64_t address, void* local,
          MPI_Count bytes) {
  if (!op.failure().ok() || bytes == 0) return;
  const std::int32_t pid = ticket.layout().rank(static_cast<std::uint32_t>(other)).pid;
  const int error = copy(direction, pid, static_cast<std::byte*>(local), address, static_cast<std::size_t>(bytes));
  if (error == 0) return;
  op.fail(fail(error == ESRCH ? MPI_ERR_PROC_ABORTED : MPI_ERR_OTHER, "coll.not_copied",
               {{"doing", direction == Direction::kRead ? "reading" : "writing"},
                {"bytes", bytes},
                {"peer", other},
                {"process", pid},
                {"lower", std::strerror(error)}}));
}

}  // namespace

void read_from(Op& op, const Ticket& ticket, Rank from, std::uint64_t address, void* to, MPI_Count bytes) {
  copy(op, ticket, Direction::kRead, from, address, to, bytes);
}

void write_to(Op& op, const Ticket& ticket, Rank to, std::uint64_t address, const void* from, MPI_Count bytes) {
  copy(op, ticket, Direction::kWrite, to, address, const_cast<void*>(from), bytes);  // the system call only reads it
}

void read_into(Op& op, const Ticket& ticket, Rank from, std::uint64_t address, const DataView& to) {
  const MPI_Count bytes = to.bytes();
  if (to.dense()) return read_from(op, ticket, from, address, to.data, bytes);
  const auto all = static_cast<std::size_t>(bytes);
  std::byte* const window = op.scratch(static_cast<MPI_Count>(all < kWindow ? all : kWindow));
  for (std::size_t at = 0; at < all && op.failure().ok(); at += kWindow) {
    const std::size_t n = all - at < kWindow ? all - at : kWindow;
    read_from(op, ticket, from, address + at, window, static_cast<MPI_Count>(n));
    if (op.failure().ok()) datatype::unpack(to, at, window, n);
  }
}

Status other_rank_failed() { return fail(MPI_ERR_OTHER, "coll.not_copied_elsewhere"); }

bool reaches_all_ranks(const Op& op, const Ticket& ticket) {
  const SegmentLayout& layout = ticket.layout();
  for (Rank r = 0; r < op.size(); ++r) {
    if (r == op.rank()) continue;
    const RankState& other = layout.rank(static_cast<std::uint32_t>(r));
    // Each rank writes the value that is there already, so the order of the ranks does not matter.
    std::uint64_t seen = 0, written = layout.header().nonce;
    int error = copy(Direction::kRead, other.pid, reinterpret_cast<std::byte*>(&seen), other.probe, sizeof seen);
    const bool same = seen == layout.header().nonce;
    if (error == 0 && same)
      error = copy(Direction::kWrite, other.pid, reinterpret_cast<std::byte*>(&written), other.probe, sizeof written);
    if (error == 0 && same) continue;
    ASHLAR_LOG(info, "coll.shm", "no single copies: the memory of rank %d (process %d): %s", r, other.pid,
               error != 0 ? std::strerror(error) : "something else lies there");
    return false;
  }
  return true;
}

}  // namespace ashlar::coll::shm
