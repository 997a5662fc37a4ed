#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "components/io/posix/driver.h"

namespace ashlar::io::posix {
namespace {

constexpr std::uint32_t kMostPieces = 1024;        // of one preadv
constexpr std::uint64_t kMostBytes = 0x7fff'f000;  // the same
constexpr std::uint64_t kMostOffset = INT64_MAX;   // off_t

class File : public ashlar_io_file {
 public:
  File(int descriptor, const char* name, bool moves, const Driver& driver);
  ~File() { ::close(fd); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const int fd;
  const std::string path;
  const bool mappable;
  bool seekable() const { return (capabilities & ASHLAR_IO_SEEKABLE) != 0; }
};

File& of(ashlar_io_file* file) { return *static_cast<File*>(file); }

/// Pieces that follow each other in the file, as far as one system call takes them.
class Row {
 public:
  /// Takes pieces from the front of [at, end), of which `skip` bytes of the first are moved already. Returns how many.
  std::uint32_t fill(const ashlar_io_piece* pieces, std::uint32_t count, std::uint64_t skip, bool anywhere) {
    bytes_ = 0;
    used_ = 0;
    offset_ = pieces[0].offset + skip;
    std::uint32_t taken = 0;
    while (taken < count && used_ < kMostPieces && bytes_ < kMostBytes) {
      const ashlar_io_piece& piece = pieces[taken];
      if (!anywhere && piece.offset + skip != offset_ + bytes_) break;
      const std::uint64_t length = std::min(piece.length - skip, kMostBytes - bytes_);
      vector_[used_++] = {static_cast<char*>(piece.memory) + skip, length};
      bytes_ += length;
      if (length < piece.length - skip) break;
      ++taken;
      skip = 0;
    }
    return taken;
  }
  const iovec* vector() const { return vector_; }
  int used() const { return static_cast<int>(used_); }
  std::uint64_t bytes() const { return bytes_; }
  off_t offset() const { return static_cast<off_t>(offset_); }

 private:
  iovec vector_[kMostPieces];
  std::uint32_t used_ = 0;
  std::uint64_t bytes_ = 0, offset_ = 0;
};

ssize_t move(const File& file, bool writes, const Row& row) {
  if (row.used() == 1) {
    const iovec& one = row.vector()[0];
    if (!file.seekable())
      return writes ? ::write(file.fd, one.iov_base, one.iov_len) : ::read(file.fd, one.iov_base, one.iov_len);
    return writes ? ::pwrite(file.fd, one.iov_base, one.iov_len, row.offset())
                  : ::pread(file.fd, one.iov_base, one.iov_len, row.offset());
  }
  if (!file.seekable())
    return writes ? ::writev(file.fd, row.vector(), row.used()) : ::readv(file.fd, row.vector(), row.used());
  return writes ? ::pwritev(file.fd, row.vector(), row.used(), row.offset())
                : ::preadv(file.fd, row.vector(), row.used(), row.offset());
}

/// Counts `moved` bytes off the pieces at the front.
void advance(const ashlar_io_piece** pieces, std::uint32_t* count, std::uint64_t* skip, std::uint64_t moved) {
  *skip += moved;
  while (*count > 0 && *skip >= (*pieces)->length) {
    *skip -= (*pieces)->length;
    ++*pieces;
    --*count;
  }
}

/// The first bytes of a piece, in most cases all of it, without the lists of a row. None, where the system refuses: the
/// next try says why.
std::uint64_t move_first(const File& file, bool writes, const ashlar_io_piece& piece) {
  if (!file.seekable() || piece.offset > kMostOffset - piece.length) return 0;
  const auto at = static_cast<off_t>(piece.offset);
  const ssize_t moved =
      writes ? ::pwrite(file.fd, piece.memory, piece.length, at) : ::pread(file.fd, piece.memory, piece.length, at);
  return moved < 0 ? 0 : static_cast<std::uint64_t>(moved);
}

ashlar_result transfer(File& file, bool writes, const ashlar_io_piece* pieces, std::uint32_t count,
                       std::uint64_t* done) {
  *done = 0;
  std::uint64_t skip = 0;
  if (count == 1) {
    *done = skip = move_first(file, writes, *pieces);
    if (skip == pieces->length) return ASHLAR_OK;
  }
  advance(&pieces, &count, &skip, 0);
  Row row;
  while (count > 0) {
    if (pieces->offset > kMostOffset - pieces->length)
      return failed_at(EFBIG, writes ? "pwritev" : "preadv", file.path.c_str(), pieces->offset);
    row.fill(pieces, count, skip, !file.seekable());
    const ssize_t moved = move(file, writes, row);
    if (moved < 0) {
      if (errno == EINTR) continue;
      return failed_at(errno, writes ? "pwritev" : "preadv", file.path.c_str(),
                       static_cast<std::uint64_t>(row.offset()));
    }
    if (moved == 0) {
      if (!writes) return ASHLAR_OK;
      return failed_at(ENOSPC, "pwritev", file.path.c_str(), static_cast<std::uint64_t>(row.offset()));
    }
    *done += static_cast<std::uint64_t>(moved);
    advance(&pieces, &count, &skip, static_cast<std::uint64_t>(moved));
  }
  return ASHLAR_OK;
}

ashlar_result read(ashlar_io_file* file, const ashlar_io_piece* pieces, std::uint32_t count, std::uint64_t* done) {
  return transfer(of(file), false, pieces, count, done);
}

ashlar_result write(ashlar_io_file* file, const ashlar_io_piece* pieces, std::uint32_t count, std::uint64_t* done) {
  return transfer(of(file), true, pieces, count, done);
}

ashlar_result stat(ashlar_io_file* self, ashlar_io_stat* out) {
  const File& file = of(self);
  struct stat found;
  if (::fstat(file.fd, &found) != 0) return failed(errno, "fstat", file.path.c_str());
  out->bytes = static_cast<std::uint64_t>(found.st_size);
  out->device = found.st_dev;
  out->inode = found.st_ino;
  out->block = static_cast<std::uint64_t>(found.st_blksize);
  out->stripe = out->stripes = 0;
  if (ASHLAR_HAS(out, allocated)) out->allocated = static_cast<std::uint64_t>(found.st_blocks) * 512;
  return ASHLAR_OK;
}

ashlar_result truncate(ashlar_io_file* self, std::uint64_t bytes) {
  const File& file = of(self);
  while (::ftruncate(file.fd, static_cast<off_t>(bytes)) != 0)
    if (errno != EINTR) return failed(errno, "ftruncate", file.path.c_str());
  return ASHLAR_OK;
}

ashlar_result allocate(ashlar_io_file* self, std::uint64_t bytes) {
  const File& file = of(self);
  if (bytes == 0) return ASHLAR_OK;
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(file.fd, 0, static_cast<off_t>(bytes));
  return error == 0 ? ASHLAR_OK : failed(error, "posix_fallocate", file.path.c_str());
}

ashlar_result sync(ashlar_io_file* self) {
  const File& file = of(self);
  while (::fdatasync(file.fd) != 0) {
    if (errno == EINVAL || errno == EROFS) return ASHLAR_OK;  // a pipe or a terminal has no device to write to
    if (errno != EINTR) return failed(errno, "fdatasync", file.path.c_str());
  }
  return ASHLAR_OK;
}

/// Waits for a lock of the open file description: it goes with the process, and excludes those of other jobs.
bool hold(const File& file, short kind, std::uint64_t offset, std::uint64_t length) {
  struct flock range = {};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(offset);
  range.l_len = static_cast<off_t>(length);
  int held = -1;
  do {
    held = ::fcntl(file.fd, F_OFD_SETLKW, &range);
  } while (held != 0 && errno == EINTR);
  return held == 0;
}

// One that excludes all others needs a descriptor that may write; a reader's excludes writers.
ashlar_result lock(ashlar_io_file* self, std::uint64_t offset, std::uint64_t length) {
  if (hold(of(self), F_WRLCK, offset, length)) return ASHLAR_OK;
  return errno == EBADF && hold(of(self), F_RDLCK, offset, length) ? ASHLAR_OK : ASHLAR_AGAIN;
}

ashlar_result share(ashlar_io_file* self, std::uint64_t offset, std::uint64_t length) {
  return hold(of(self), F_RDLCK, offset, length) ? ASHLAR_OK : ASHLAR_AGAIN;
}

void unlock(ashlar_io_file* self, std::uint64_t offset, std::uint64_t length) {
  struct flock range = {};
  range.l_type = F_UNLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(offset);
  range.l_len = static_cast<off_t>(length);
  static_cast<void>(::fcntl(of(self).fd, F_OFD_SETLK, &range));
}

int descriptor(ashlar_io_file* self) { return of(self).fd; }

// A child of the process has no part in it.
ashlar_result map(ashlar_io_file* self, std::uint64_t offset, std::uint64_t length, void** memory) {
  const File& file = of(self);
  if (!file.mappable || offset > kMostOffset - length) return ASHLAR_AGAIN;
  const int access = (::fcntl(file.fd, F_GETFL) & O_ACCMODE) == O_RDWR ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const there = ::mmap(nullptr, length, access, MAP_SHARED, file.fd, static_cast<off_t>(offset));
  if (there == MAP_FAILED) return ASHLAR_AGAIN;
  static_cast<void>(::madvise(there, length, MADV_DONTFORK));
  *memory = there;
  return ASHLAR_OK;
}

void unmap(ashlar_io_file*, void* memory, std::uint64_t length) { static_cast<void>(::munmap(memory, length)); }

ashlar_result close(ashlar_io_file* self) {
  delete &of(self);
  return ASHLAR_OK;
}

constexpr ashlar_io_file_ops kOps = {.size = sizeof(ashlar_io_file_ops),
                                     .close = close,
                                     .read = read,
                                     .write = write,
                                     .stat = stat,
                                     .truncate = truncate,
                                     .allocate = allocate,
                                     .sync = sync,
                                     .refresh = nullptr,
                                     .lock = lock,
                                     .unlock = unlock,
                                     .descriptor = descriptor,
                                     .share = share,
                                     .map = map,
                                     .unmap = unmap};

File::File(int descriptor, const char* name, bool moves, const Driver& driver)
    : ashlar_io_file{&kOps, 0}, fd(descriptor), path(name), mappable(driver.mappable) {
  if (moves) capabilities = ASHLAR_IO_SEEKABLE | driver.coherence;
}

int flags_of(std::uint32_t mode) {
  int flags = O_CLOEXEC | O_NOCTTY;
  if ((mode & ASHLAR_IO_READ) != 0)
    flags |= (mode & ASHLAR_IO_WRITE) != 0 ? O_RDWR : O_RDONLY;
  else
    flags |= O_WRONLY;
  if ((mode & ASHLAR_IO_CREATE) != 0) flags |= O_CREAT;
  if ((mode & ASHLAR_IO_EXCLUSIVE) != 0) flags |= O_EXCL;
  return flags;
}

}  // namespace

ashlar_result open_file(ashlar_io_driver* driver, const ashlar_io_open* wanted, ashlar_io_file** out) {
  int fd = -1;
  do {
    fd = ::open(wanted->path, flags_of(wanted->mode), static_cast<mode_t>(wanted->permissions));
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return failed(errno, "open", wanted->path);
  struct stat found;
  const bool known = ::fstat(fd, &found) == 0;
  if (known && S_ISDIR(found.st_mode)) {
    ::close(fd);
    return failed(EISDIR, "open", wanted->path);
  }
  const bool moves = (known && S_ISREG(found.st_mode)) || ::lseek(fd, 0, SEEK_CUR) >= 0;
  File* const file = new (std::nothrow) File(fd, wanted->path, moves, *reinterpret_cast<const Driver*>(driver));
  if (file == nullptr) {
    ::close(fd);
    return ashlar_fail_no_memory(the_host, "an open file", sizeof *file);
  }
  *out = file;
  return ASHLAR_OK;
}

}  // namespace ashlar::io::posix
