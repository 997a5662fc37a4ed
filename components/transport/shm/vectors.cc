#include "components/transport/shm/vectors.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "components/transport/shm/endpoint.h"

namespace ashlar::shm {
namespace {

constexpr std::uint32_t kPiecesOfCall = 64;

/// The pieces of one system call: both sides' lists have the same lengths.
struct Lists {
  iovec here[kPiecesOfCall], there[kPiecesOfCall];
  std::uint32_t count = 0;
};

Lists list(const VectorCopy& copy, std::uint64_t most) {
  Lists lists;
  std::uint64_t into = copy.into;
  for (std::uint32_t i = copy.next; i < copy.count && lists.count < kPiecesOfCall && most > 0; ++i) {
    const ashlar_piece& piece = copy.piece(i);
    const std::uint64_t bytes = std::min(piece.length - into, most);
    lists.here[lists.count] = {static_cast<std::byte*>(piece.local) + into, bytes};
    lists.there[lists.count] = {reinterpret_cast<void*>(copy.region + piece.offset + into), bytes};
    ++lists.count;
    most -= bytes;
    into = 0;
  }
  return lists;
}

void take_off(VectorCopy& copy, std::uint64_t bytes) {
  while (bytes > 0) {
    const std::uint64_t now = std::min(bytes, copy.piece(copy.next).length - copy.into);
    bytes -= now;
    copy.into += now;
    if (copy.into < copy.piece(copy.next).length) return;
    ++copy.next;
    copy.into = 0;
  }
}

}  // namespace

int VectorCopy::advance(std::uint64_t* slice) {
  while (!over() && *slice > 0) {
    const Lists lists = list(*this, *slice);
    const ssize_t bytes = writes ? process_vm_writev(peer->pid, lists.here, lists.count, lists.there, lists.count, 0)
                                 : process_vm_readv(peer->pid, lists.here, lists.count, lists.there, lists.count, 0);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return errno;
    if (bytes == 0) return EIO;
    take_off(*this, static_cast<std::uint64_t>(bytes));
    *slice -= static_cast<std::uint64_t>(bytes);
  }
  return 0;
}

}  // namespace ashlar::shm
