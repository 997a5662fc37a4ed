#include <new>

#include "components/io/uring/driver.h"

namespace ashlar::io::uring {
namespace {

/// A file of the driver behind, with its descriptor.
class File : public ashlar_io_front_file {
 public:
  File(ashlar_io_file* file, int fd, bool rings_write);

  const int descriptor;
  const bool writes;  // through rings, too
};

File& of(ashlar_io_file* file) { return *static_cast<File*>(reinterpret_cast<ashlar_io_front_file*>(file)); }

/// Whether so many pieces lie apart that a ring is worth its while. None may lie before another one that it follows:
/// the ring keeps no order.
bool suits_ring(const ashlar_io_piece* pieces, std::uint32_t count) {
  if (count < least_pieces) return false;
  std::uint64_t apart = 1;
  for (std::uint32_t i = 1; i < count; ++i) {
    const std::uint64_t end = pieces[i - 1].offset + pieces[i - 1].length;
    if (pieces[i].offset < end) return false;
    apart += pieces[i].offset != end ? 1 : 0;
  }
  return apart >= least_pieces;
}

// What the ring has not moved, the driver behind does: it finds the end of the file, and says what failed.
ashlar_result transfer(File& file, bool writes, const ashlar_io_piece* pieces, std::uint32_t count,
                       std::uint64_t* done) {
  std::uint32_t whole = 0;
  if ((!writes || file.writes) && suits_ring(pieces, count)) {
    if (std::unique_ptr<Ring> ring = the_rings.take(); ring != nullptr) {
      whole = ring->move(file.descriptor, writes, pieces, count);
      the_rings.give_back(std::move(ring));
    }
  }
  std::uint64_t moved = 0, rest = 0;
  for (std::uint32_t i = 0; i < whole; ++i) moved += pieces[i].length;
  ashlar_result result = ASHLAR_OK;
  if (whole < count || count == 0) {
    const auto move = writes ? file.next->ops->write : file.next->ops->read;
    result = move(file.next, pieces + whole, count - whole, &rest);
  }
  *done = moved + rest;
  return result;
}

ashlar_result read(ashlar_io_file* file, const ashlar_io_piece* pieces, std::uint32_t count, std::uint64_t* done) {
  return transfer(of(file), false, pieces, count, done);
}

ashlar_result write(ashlar_io_file* file, const ashlar_io_piece* pieces, std::uint32_t count, std::uint64_t* done) {
  return transfer(of(file), true, pieces, count, done);
}

int descriptor(ashlar_io_file* self) { return of(self).descriptor; }

ashlar_result close(ashlar_io_file* self) {
  ashlar_io_file* const next = of(self).next;
  delete &of(self);
  return next->ops->close(next);
}

constexpr ashlar_io_file_ops kOps = {.size = sizeof(ashlar_io_file_ops),
                                     .close = close,
                                     .read = read,
                                     .write = write,
                                     .stat = ashlar_io_stat_behind,
                                     .truncate = ashlar_io_truncate_behind,
                                     .allocate = ashlar_io_allocate_behind,
                                     .sync = ashlar_io_sync_behind,
                                     .refresh = ashlar_io_refresh_behind,
                                     .lock = ashlar_io_lock_behind,
                                     .unlock = ashlar_io_unlock_behind,
                                     .descriptor = descriptor,
                                     .share = ashlar_io_share_behind,
                                     .map = ashlar_io_map_behind,
                                     .unmap = ashlar_io_unmap_behind};

File::File(ashlar_io_file* file, int fd, bool rings_write)
    : ashlar_io_front_file{{&kOps, file->capabilities}, file}, descriptor(fd), writes(rings_write) {}

}  // namespace

// Without a descriptor, or without offsets, the file is the one of the driver behind.
ashlar_result open_file(ashlar_io_driver* driver, const ashlar_io_open* wanted, ashlar_io_file** out) {
  ashlar_io_driver* const behind = ashlar_io_driver_behind(driver);
  ashlar_io_file* next = nullptr;
  const ashlar_result opened = behind->ops->open(behind, wanted, &next);
  if (opened != ASHLAR_OK) return opened;
  *out = next;
  const bool tells = ASHLAR_HAS(next->ops, descriptor) && next->ops->descriptor != nullptr;
  const int fd = tells ? next->ops->descriptor(next) : -1;
  if (fd < 0 || (next->capabilities & ASHLAR_IO_SEEKABLE) == 0) return ASHLAR_OK;
  File* const file = new (std::nothrow)
      File(next, fd, static_cast<Driver*>(reinterpret_cast<ashlar_io_front_driver*>(driver))->writes);
  if (file == nullptr) {
    next->ops->close(next);
    return ashlar_fail_no_memory(the_host, "an open file", sizeof *file);
  }
  *out = &file->head;
  return ASHLAR_OK;
}

}  // namespace ashlar::io::uring
