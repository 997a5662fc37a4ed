#include "components/transport/shm/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "components/transport/shm/address.h"
#include "framework/base/shared_file.h"

namespace ashlar::shm {
namespace {

ashlar_result allocate(const ashlar_host& host, int fd, std::size_t from, std::size_t bytes, const char* what) {
  const int error = claim_shared_file(fd, from, bytes);
  if (error == 0 || cannot_claim(error)) return ASHLAR_OK;  // filtered: touch will do
  const ashlar_fact refused[] = {{.name = "what", .text = what, .number = 0},
                                 {.name = "bytes", .text = nullptr, .number = static_cast<std::int64_t>(bytes)},
                                 {.name = "error", .text = std::strerror(error), .number = 0}};
  return ashlar_fail_with(&host, ASHLAR_ERR_NO_MEM, "shm.no_memory", refused, std::size(refused));
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
  if (!fd_) {
    const ashlar_fact reason = {.name = "reason", .text = why, .number = 0};
    return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "shm.not_made", &reason, 1);
  }
  if (const int error = size_shared_file(fd_.get(), bytes); error != 0) {
    const ashlar_fact refused[] = {
        {.name = "bytes", .text = nullptr, .number = static_cast<std::int64_t>(bytes)},
        {.name = "error", .text = std::strerror(error), .number = 0},
        {.name = "note", .text = error == EFBIG ? "ulimit -f holds for shared memory, too" : "", .number = 0}};
    return ashlar_fail_with(&host, ASHLAR_ERR_NO_MEM, "shm.not_sized", refused, std::size(refused));
  }
  // Shrinking it would kill a reader with SIGBUS.
  fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  const ashlar_result claimed =
      allocate(host, fd_.get(), 0, round_up(Geometry::copies_at(), kPage), "the head of a shared memory segment");
  if (claimed != ASHLAR_OK) return claimed;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (at == MAP_FAILED) {
    const ashlar_fact refused[] = {{.name = "bytes", .text = nullptr, .number = static_cast<std::int64_t>(bytes)},
                                   {.name = "error", .text = std::strerror(errno), .number = 0}};
    return ashlar_fail_with(&host, ASHLAR_ERR_NO_MEM, "shm.not_mapped", refused, std::size(refused));
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
    const ashlar_fact found[] = {{.name = "descriptor", .text = nullptr, .number = peer.fd},
                                 {.name = "pid", .text = nullptr, .number = peer.pid},
                                 {.name = "bytes", .text = nullptr, .number = static_cast<std::int64_t>(bytes)}};
    return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "shm.other_segment", found, std::size(found));
  }
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) {
    const ashlar_fact refused[] = {{.name = "pid", .text = nullptr, .number = peer.pid},
                                   {.name = "bytes", .text = nullptr, .number = static_cast<std::int64_t>(bytes)},
                                   {.name = "error", .text = std::strerror(errno), .number = 0}};
    return ashlar_fail_with(&host, ASHLAR_ERR_NO_MEM, "shm.peer_not_mapped", refused, std::size(refused));
  }
  base_ = static_cast<std::byte*>(at);
  mapped_ = true;
  geometry_ = geometry;
  fd_ = std::move(fd);
  const SegmentHeader& head = header();
  if (head.magic.load(std::memory_order_acquire) != kMagic || head.nonce != peer.nonce) {
    const ashlar_fact found[] = {{.name = "descriptor", .text = nullptr, .number = peer.fd},
                                 {.name = "pid", .text = nullptr, .number = peer.pid}};
    return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "shm.no_mark", found, std::size(found));
  }
  if (head.layout != kLayout) {
    const ashlar_fact layouts[] = {{.name = "pid", .text = nullptr, .number = peer.pid},
                                   {.name = "theirs", .text = nullptr, .number = head.layout},
                                   {.name = "own", .text = nullptr, .number = kLayout}};
    return ashlar_fail_with(&host, ASHLAR_ERR_OTHER, "shm.layout", layouts, std::size(layouts));
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
