#include "components/coll/shm/segment/mapping.h"

#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "framework/base/failure.h"
#include "framework/base/shared_count.h"
#include "framework/base/shared_file.h"

namespace ashlar::coll::shm {
namespace {

Status system_failed(const char* what, int error) {
  return fail(MPI_ERR_OTHER, "coll.no_segment", {{"what", what}, {"lower", std::strerror(error)}});
}

}  // namespace

constinit SegmentMapping::Counters SegmentMapping::counters;

SegmentMapping::~SegmentMapping() {
  if (base_ != nullptr) {
    munmap(base_, bytes_);
    count_shared(counters.segments, ~std::uint64_t{0});
    count_shared(counters.bytes, ~bytes_ + 1);
  }
  if (fd_ >= 0) close(fd_);
}

Status SegmentMapping::map(int fd, std::uint32_t ranks, std::uint64_t buffer_bytes) {
  const std::uint64_t bytes = SegmentLayout::bytes(ranks, buffer_bytes);
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    return system_failed("mapping it", errno);
  }
  base_ = at;
  bytes_ = bytes;
  layout_ = SegmentLayout(static_cast<std::byte*>(at), ranks, buffer_bytes);
  count_shared(counters.segments);
  count_shared(counters.bytes, bytes);
  return {};
}

Status SegmentMapping::make(std::uint32_t ranks, std::uint64_t buffer_bytes, bool flat, SegmentHandle* out) {
  char why[400];
  fd_ = make_shared_file("ashlar-coll", /*sealable=*/false, why, sizeof why);
  if (fd_ < 0) return fail(MPI_ERR_OTHER, "coll.no_segment", {{"what", "making it"}, {"lower", why}});
  if (const int error = size_whole_shared_file(fd_, SegmentLayout::bytes(ranks, buffer_bytes)); error != 0)
    return system_failed("giving it a size", error);
  ASHLAR_TRY(map(fd_, ranks, buffer_bytes));
  SegmentHeader& header = layout_.header();
  header.nonce = random_nonce();
  header.ranks = ranks;
  header.flat = flat ? 1 : 0;
  *out = SegmentHandle{.pid = getpid(), .fd = fd_, .ranks = ranks, .nonce = header.nonce, .buffer_bytes = buffer_bytes};
  return {};
}

Status SegmentMapping::attach(const SegmentHandle& handle) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%d", static_cast<long long>(handle.pid), handle.fd);
  const int fd = open_shared_file_of(handle.pid, handle.fd);
  if (fd < 0) return system_failed(path, errno);
  const off_t size = lseek(fd, 0, SEEK_END);
  // Reading a mapping of a shorter file would raise SIGBUS, so the size is compared before.
  const bool fits = size == static_cast<off_t>(SegmentLayout::bytes(handle.ranks, handle.buffer_bytes));
  const Status mapped = fits ? map(fd, handle.ranks, handle.buffer_bytes) : Status();
  close(fd);
  ASHLAR_TRY(mapped);
  if (!fits || layout_.header().nonce != handle.nonce || layout_.header().ranks != handle.ranks)
    return fail(MPI_ERR_OTHER, "coll.not_the_segment", {{"path", path}});
  return {};
}

void SegmentMapping::all_attached() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace ashlar::coll::shm
