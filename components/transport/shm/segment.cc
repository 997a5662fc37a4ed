#include "components/transport/shm/segment.h"

#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "components/transport/shm/address.h"
#include "framework/base/shared_file.h"

namespace ashlar::shm {
namespace {

ashlar_result allocate(const ashlar_host& host, int fd, std::size_t from, std::size_t bytes, const char* what) {
  while (fallocate(fd, 0, static_cast<off_t>(from), static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM) return ASHLAR_OK;  // filtered; touch will do
    return host.fail(MPI_ERR_NO_MEM, "no memory for %s: the system refused %zu bytes of shared memory (%s)", what,
                     bytes, std::strerror(errno));
  }
  return ASHLAR_OK;
}

}  // namespace

Segment::Segment(Segment&& other) noexcept { *this = std::move(other); }

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(mapped_, other.mapped_);
  std::swap(geometry_, other.geometry_);
  std::swap(fd_, other.fd_);
  return *this;
}

Segment::~Segment() {
  if (mapped_ && !kShareMapping) munmap(base_, geometry_.bytes());
}

ashlar_result Segment::create(const ashlar_host& host, const Geometry& geometry, std::uint64_t nonce) {
  const std::size_t bytes = geometry.bytes();
  char why[400];
  fd_ = Descriptor(make_shared_file("ashlar", /*sealable=*/true, why, sizeof why));
  if (!fd_) return host.fail(MPI_ERR_OTHER, "shared memory cannot be made: %s", why);
  if (const int error = size_shared_file(fd_.get(), bytes); error != 0) {
    return host.fail(MPI_ERR_NO_MEM, "shared memory of %zu bytes cannot be made (%s%s)", bytes, std::strerror(error),
                     error == EFBIG ? "; ulimit -f holds for shared memory too" : "");
  }
  // Nobody can shrink it under a reader's feet.
  fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  const ashlar_result claimed =
      allocate(host, fd_.get(), 0, round_up(Geometry::copies_at(), kPage), "the head of a shared memory segment");
  if (claimed != ASHLAR_OK) return claimed;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (at == MAP_FAILED) {
    return host.fail(MPI_ERR_NO_MEM, "shared memory of %zu bytes cannot be mapped (%s)", bytes, std::strerror(errno));
  }
  base_ = static_cast<std::byte*>(at);
  mapped_ = true;
  geometry_ = geometry;
  SegmentHeader& head = header();
  head.nonce = nonce;
  head.self = reinterpret_cast<std::uint64_t>(base_);
  head.bytes = bytes;
  head.layout = kLayout;
  head.slots = geometry.slots;
  head.ring_bytes = geometry.ring_bytes;
  head.magic.store(kMagic, std::memory_order_release);
  return ASHLAR_OK;
}

ashlar_result Segment::attach(const ashlar_host& host, Descriptor fd, const Address& peer) {
  const Geometry geometry{peer.slots, peer.ring_bytes};
  const std::size_t bytes = geometry.bytes();
  struct stat info;
  if (fstat(fd.get(), &info) != 0 || static_cast<std::size_t>(info.st_size) != bytes) {
    return host.fail(MPI_ERR_OTHER, "descriptor %d of process %d is not the segment its address describes (%zu bytes)",
                     peer.fd, peer.pid, bytes);
  }
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) {
    return host.fail(MPI_ERR_NO_MEM, "shared memory of process %d (%zu bytes) cannot be mapped (%s)", peer.pid, bytes,
                     std::strerror(errno));
  }
  base_ = static_cast<std::byte*>(at);
  mapped_ = true;
  geometry_ = geometry;
  fd_ = std::move(fd);
  const SegmentHeader& head = header();
  if (head.magic.load(std::memory_order_acquire) != kMagic || head.nonce != peer.nonce) {
    return host.fail(MPI_ERR_OTHER,
                     "the shared memory at descriptor %d of process %d does not answer with its mark: the "
                     "process is another one than the address was made by",
                     peer.fd, peer.pid);
  }
  if (head.layout != kLayout) {
    return host.fail(MPI_ERR_OTHER, "process %d uses shared memory layout %u, this process %u: different builds",
                     peer.pid, head.layout, kLayout);
  }
  return ASHLAR_OK;
}

void Segment::attach_own_process(const Address& peer) {
  base_ = reinterpret_cast<std::byte*>(peer.self);
  geometry_ = Geometry{peer.slots, peer.ring_bytes};
}

ashlar_result Segment::claim_ring(const ashlar_host& host, std::uint32_t i) {
  if (!fd_) return ASHLAR_OK;  // another interface of this process: touching takes the same memory
  const ashlar_result r = allocate(host, fd_.get(), geometry_.ring_at(i), geometry_.ring_bytes, "a message ring");
  fd_.reset();
  return r;
}

ashlar_result Segment::claim_posts(const ashlar_host& host) const {
  return allocate(host, fd_.get(), Geometry::posts_at(), Geometry::slots_at() - Geometry::posts_at(),
                  "receives posted in shared memory");
}

}  // namespace ashlar::shm
