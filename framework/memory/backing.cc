#include "framework/memory/backing.h"

#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>

#include "framework/base/bytes_text.h"
#include "framework/base/failure.h"
#include "framework/base/sanitizers.h"
#include "framework/base/shared_file.h"
#include "framework/memory/headroom.h"

namespace ashlar::memory {
namespace {

constexpr std::uint64_t kLeast = std::uint64_t{64} << 20;
#ifdef ASHLAR_TSAN
constexpr std::uint64_t kMost = std::uint64_t{1} << 36;  // it knows few ranges of addresses
#else
constexpr std::uint64_t kMost = std::uint64_t{1} << 46;  // of all heaps of a node together; the address space has 2^47
#endif

Status refused(const char* what, std::uint64_t bytes, int error, const char* note = "") {
  return fail(MPI_ERR_NO_MEM, "memory.heap_system",
              {{"what", what}, {"size", bytes_text(bytes)}, {"error", std::strerror(error)}, {"note", note}});
}

}  // namespace

std::uint64_t reserve_for(unsigned processes, std::uint64_t physical) {
  const std::uint64_t count = std::max(processes, 1u);
  std::uint64_t bytes = std::bit_floor(kMost / count);
  if (physical != 0) bytes = std::min(bytes, std::bit_ceil(std::min(physical, kMost)) * 2);
  // The process maps the heaps of the others, too, and has other things to map.
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, std::bit_floor(std::max<std::uint64_t>(limit.rlim_cur / 4 / count, 1)));
  return std::max(bytes, kLeast);
}

std::byte* map_sparse(int fd, std::uint64_t bytes) {
  // Under MCL_FUTURE a mapping is locked, and gets all its memory at once, unless it cannot be read yet.
  void* const at = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) return nullptr;
  munlock(at, bytes);
  if (mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    munmap(at, bytes);
    errno = error;
    return nullptr;
  }
  // Otherwise the system looks at each page of all this when the process dumps its core.
  madvise(at, bytes, MADV_DONTDUMP);
  return static_cast<std::byte*>(at);
}

Backing::~Backing() { drop(); }

void Backing::drop() {
  if (base_) munmap(base_, bytes_);
  if (fd_ >= 0 && fd_is_ours()) close(fd_);
  base_ = nullptr;
  fd_ = -1;
}

Status Backing::make_file() {
  char words[400];
  fd_ = make_shared_file("ashlar-heap", /*sealable=*/true, words, sizeof words);
  if (fd_ < 0) return fail(MPI_ERR_NO_MEM, "memory.heap_file", {{"lower", words}});
  struct stat info;
  if (fstat(fd_, &info) != 0) return fail(MPI_ERR_NO_MEM, "memory.heap_file", {{"lower", std::strerror(errno)}});
  device_ = info.st_dev;
  inode_ = info.st_ino;
  return {};
}

Status Backing::map(std::uint64_t bytes) {
  if (const int error = size_shared_file(fd_, bytes); error != 0)
    return refused("a file of", bytes, error, error == EFBIG ? "ulimit -f holds for shared memory, too" : "");
  base_ = map_sparse(fd_, bytes);
  if (!base_) return refused("a mapping of", bytes, errno, "ulimit -v, or mlockall and ulimit -l");
  return {};
}

Status Backing::make(std::uint64_t bytes) {
  const Status made = make_parts(bytes);
  if (!made.ok()) drop();
  return made;
}

Status Backing::make_parts(std::uint64_t bytes) {
  ASHLAR_TRY(make_file());
  bytes = std::max((std::min(bytes, kMost) + kPage - 1) & ~(kPage - 1), 16 * kPage);
  Status mapped = map(bytes);
  for (bytes_ = bytes; !mapped.ok() && bytes_ / 2 >= std::min(kLeast, bytes); mapped = map(bytes_))
    bytes_ = (bytes_ / 2) & ~(kPage - 1);
  ASHLAR_TRY(mapped);
  // A file that shrinks would end every process that maps it; pages can still be given back.
  sealed_ = fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  claims_all_ = !sealed_ || strict_overcommit();
  const Range head{.begin = reinterpret_cast<std::uint64_t>(base_), .bytes = kPage};
  ASHLAR_TRY(claim(head));
  nonce_ = random_nonce();
  *reinterpret_cast<HeapHead*>(base_) = {.nonce = nonce_, .bytes = bytes_};
  used_up_to(head.end());
  return {};
}

bool Backing::fd_is_ours() const {
  struct stat info;
  return fstat(fd_, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
}

Status Backing::claim(Range range) {
  if (!fd_is_ours()) return fail(MPI_ERR_NO_MEM, "memory.heap_closed", {{"descriptor", fd_}});
  const int error = claim_shared_file(fd_, range.begin - reinterpret_cast<std::uint64_t>(base_), range.bytes);
  if (error == 0 || (cannot_claim(error) && !claims_all_)) return {};
  return refused("memory of", range.bytes, error);
}

// Through the mapping: a descriptor could be another file's by now.
bool Backing::discard(Range range) {
  return madvise(reinterpret_cast<void*>(range.begin), range.bytes, MADV_REMOVE) == 0;
}

void Backing::used_up_to(std::uint64_t end) {
  constexpr std::uint64_t kStep = std::uint64_t{16} << 20;  // few calls, and a part that is not touched costs little
  const std::uint64_t reached = end - reinterpret_cast<std::uint64_t>(base_);
  if (reached <= dumped_) return;
  const std::uint64_t next = std::min((reached + kStep - 1) / kStep * kStep, bytes_);
  madvise(base_ + dumped_, next - dumped_, MADV_DODUMP);
  dumped_ = next;
}

}  // namespace ashlar::memory
