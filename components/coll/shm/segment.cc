#include "components/coll/shm/segment.h"

#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "framework/base/shared_file.h"

namespace ashlar::coll::shm {

Segment::~Segment() {
  if (base_ != nullptr) munmap(base_, bytes_);
  if (fd_ >= 0) close(fd_);
}

Status Segment::map(int fd, std::uint32_t ranks, std::uint64_t large_bytes) {
  const std::uint64_t bytes = Layout::bytes(ranks, large_bytes);
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    return Status::fail(MPI_ERR_OTHER, "mapping %llu shared bytes: %s", static_cast<unsigned long long>(bytes),
                        std::strerror(errno));
  }
  base_ = at;
  bytes_ = bytes;
  layout_ = Layout(static_cast<std::byte*>(at), ranks, large_bytes);
  return {};
}

Status Segment::make(std::uint32_t ranks, std::uint64_t large_bytes, bool flat, Invitation* out) {
  char why[400];
  fd_ = make_shared_file("ashlar-coll", /*sealable=*/false, why, sizeof why);
  if (fd_ < 0) return Status::fail(MPI_ERR_OTHER, "%s", why);
  if (const int error = size_shared_file(fd_, Layout::bytes(ranks, large_bytes)); error != 0)
    return Status::fail(MPI_ERR_OTHER, "ftruncate: %s", std::strerror(error));
  ASHLAR_TRY(map(fd_, ranks, large_bytes));
  Header& header = layout_.header();
  if (getrandom(&header.nonce, sizeof header.nonce, 0) != static_cast<ssize_t>(sizeof header.nonce))
    return Status::fail(MPI_ERR_OTHER, "getrandom: %s", std::strerror(errno));
  header.bytes = bytes_;
  header.large_bytes = large_bytes;
  header.ranks = ranks;
  header.flat = flat ? 1 : 0;
  *out = Invitation{getpid(), fd_, ranks, header.nonce, large_bytes};
  return {};
}

Status Segment::attach(const Invitation& invitation) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%d", static_cast<long long>(invitation.pid), invitation.fd);
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return Status::fail(MPI_ERR_OTHER, "opening %s: %s", path, std::strerror(errno));
  const off_t size = lseek(fd, 0, SEEK_END);
  Status mapped = Status::fail(MPI_ERR_OTHER, "%s is not the segment of this communicator", path);
  // A shorter file would end in SIGBUS; looking at it first makes that impossible.
  if (size == static_cast<off_t>(Layout::bytes(invitation.ranks, invitation.large_bytes)))
    mapped = map(fd, invitation.ranks, invitation.large_bytes);
  close(fd);
  ASHLAR_TRY(mapped);
  if (layout_.header().nonce != invitation.nonce || layout_.header().ranks != invitation.ranks)
    return Status::fail(MPI_ERR_OTHER, "%s is not the segment of this communicator", path);
  return {};
}

void Segment::all_attached() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace ashlar::coll::shm
