// A component of io for tests: each process keeps what it has read and written, as clients of a network file system do,
// and each is a node of its own. It reads what others have written after both have called what the contract says (sync,
// refresh), and not before; of what it writes, only the bytes that were written reach the driver behind it.
#include <algorithm>
#include <bitset>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "tests/conformance/io/in_front.h"

namespace {

using ashlar::test::host;

constexpr std::uint64_t kPage = 4096;

struct Page {
  char bytes[kPage] = {};
  std::bitset<kPage> written;  // here, and not synced
  bool read = false;           // the rest is the file's
};

struct File : ashlar_io_front_file {
  std::mutex mutex;  // guards the rest
  std::map<std::uint64_t, Page> pages;
  std::uint64_t size = 0;
};

File& of(ashlar_io_file* file) { return *static_cast<File*>(reinterpret_cast<ashlar_io_front_file*>(file)); }

ashlar_result learn_size(File& file) {
  ashlar_io_stat found = {};
  found.size = sizeof found;
  const ashlar_result result = file.next->ops->stat(file.next, &found);
  if (result == ASHLAR_OK) file.size = found.bytes;
  return result;
}

/// Reads what the page has in the file below the bytes that were written here.
ashlar_result fill(File& file, std::uint64_t number, Page& page) {
  if (page.read) return ASHLAR_OK;
  char old[kPage] = {};
  const ashlar_io_piece piece = {.offset = number * kPage, .length = kPage, .memory = old};
  std::uint64_t done = 0;
  if (const ashlar_result result = file.next->ops->read(file.next, &piece, 1, &done); result != ASHLAR_OK)
    return result;
  for (std::uint64_t i = 0; i < kPage; ++i)
    if (!page.written[i]) page.bytes[i] = old[i];
  page.read = true;
  return ASHLAR_OK;
}

ashlar_result read_piece(File& file, const ashlar_io_piece& piece, std::uint64_t* done) {
  const std::uint64_t end = std::min(piece.offset + piece.length, std::max(piece.offset, file.size));
  for (std::uint64_t at = piece.offset; at < end;) {
    Page& page = file.pages[at / kPage];
    const std::uint64_t now = std::min(end - at, kPage - at % kPage);
    if (const ashlar_result result = fill(file, at / kPage, page); result != ASHLAR_OK) return result;
    std::memcpy(static_cast<char*>(piece.memory) + (at - piece.offset), page.bytes + at % kPage, now);
    *done += now;
    at += now;
  }
  return ASHLAR_OK;
}

void write_piece(File& file, const ashlar_io_piece& piece) {
  for (std::uint64_t past = 0; past < piece.length; ++past) {
    const std::uint64_t at = piece.offset + past;
    Page& page = file.pages[at / kPage];
    page.bytes[at % kPage] = static_cast<const char*>(piece.memory)[past];
    page.written.set(at % kPage);
  }
  if (piece.length > 0) file.size = std::max(file.size, piece.offset + piece.length);
}

ashlar_result read(ashlar_io_file* self, const ashlar_io_piece* pieces, std::uint32_t count, std::uint64_t* done) {
  File& file = of(self);
  const std::lock_guard guard(file.mutex);
  *done = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t before = *done;
    if (const ashlar_result result = read_piece(file, pieces[i], done); result != ASHLAR_OK) return result;
    if (*done - before < pieces[i].length) break;
  }
  return ASHLAR_OK;
}

ashlar_result write(ashlar_io_file* self, const ashlar_io_piece* pieces, std::uint32_t count, std::uint64_t* done) {
  File& file = of(self);
  const std::lock_guard guard(file.mutex);
  *done = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (pieces[i].offset > std::uint64_t{INT64_MAX} - pieces[i].length)  // the driver behind it says why it cannot
      return file.next->ops->write(file.next, &pieces[i], 1, done);
    write_piece(file, pieces[i]);
    *done += pieces[i].length;
  }
  return ASHLAR_OK;
}

ashlar_result write_back(File& file) {
  for (auto& [number, page] : file.pages) {
    for (std::uint64_t i = 0; i < kPage;) {
      if (!page.written[i]) {
        ++i;
        continue;
      }
      std::uint64_t end = i;
      while (end < kPage && page.written[end]) ++end;
      const ashlar_io_piece piece = {.offset = number * kPage + i, .length = end - i, .memory = page.bytes + i};
      std::uint64_t done = 0;
      const ashlar_result result = file.next->ops->write(file.next, &piece, 1, &done);
      if (result != ASHLAR_OK) return result;
      i = end;
    }
    page.written.reset();
  }
  return ASHLAR_OK;
}

ashlar_result sync(ashlar_io_file* self) {
  File& file = of(self);
  const std::lock_guard guard(file.mutex);
  const ashlar_result result = write_back(file);
  return result == ASHLAR_OK ? file.next->ops->sync(file.next) : result;
}

ashlar_result refresh(ashlar_io_file* self) {
  File& file = of(self);
  const std::lock_guard guard(file.mutex);
  file.pages.clear();
  return learn_size(file);
}

ashlar_result stat(ashlar_io_file* self, ashlar_io_stat* out) {
  File& file = of(self);
  const std::lock_guard guard(file.mutex);
  const ashlar_result result = file.next->ops->stat(file.next, out);
  out->bytes = file.size;
  return result;
}

ashlar_result truncate(ashlar_io_file* self, std::uint64_t bytes) {
  File& file = of(self);
  const std::lock_guard guard(file.mutex);
  ashlar_result result = write_back(file);
  file.pages.clear();
  if (result == ASHLAR_OK) result = file.next->ops->truncate(file.next, bytes);
  return result == ASHLAR_OK ? learn_size(file) : result;
}

ashlar_result allocate(ashlar_io_file* self, std::uint64_t bytes) {
  File& file = of(self);
  const std::lock_guard guard(file.mutex);
  ashlar_result result = write_back(file);
  if (result == ASHLAR_OK) result = file.next->ops->allocate(file.next, bytes);
  return result == ASHLAR_OK ? learn_size(file) : result;
}

ashlar_result close(ashlar_io_file* self) {
  File& file = of(self);
  const ashlar_result written = write_back(file);
  const ashlar_result closed = file.next->ops->close(file.next);
  delete &file;
  return written == ASHLAR_OK ? closed : written;
}

constexpr ashlar_io_file_ops kFileOps = {.size = sizeof(ashlar_io_file_ops),
                                         .close = close,
                                         .read = read,
                                         .write = write,
                                         .stat = stat,
                                         .truncate = truncate,
                                         .allocate = allocate,
                                         .sync = sync,
                                         .refresh = refresh,
                                         .lock = nullptr,
                                         .unlock = nullptr,
                                         .descriptor = nullptr,
                                         .share = nullptr,
                                         .map = nullptr,
                                         .unmap = nullptr};

/// Pages are read below what is written, so the driver behind it reads and writes.
ashlar_result open_file(ashlar_io_driver* self, const ashlar_io_open* wanted, ashlar_io_file** out) {
  ashlar_io_driver* const next = ashlar_io_driver_behind(self);
  ashlar_io_file* opened = nullptr;
  if (const ashlar_result result = next->ops->open(next, wanted, &opened); result != ASHLAR_OK) return result;
  if ((opened->capabilities & ASHLAR_IO_SEEKABLE) == 0) {
    *out = opened;
    return ASHLAR_OK;
  }
  auto* const file = new (std::nothrow) File;
  if (file == nullptr) return ashlar_fail_no_memory(host, "an open file", sizeof *file);
  file->head.ops = &kFileOps;
  file->head.capabilities = ASHLAR_IO_SEEKABLE;
  file->next = opened;
  *out = &file->head;
  return learn_size(*file);
}

constexpr ashlar_io_driver_ops kOps = {
    .size = sizeof(ashlar_io_driver_ops), .open = open_file, .remove = ashlar_io_remove_behind};

ashlar_result open_component(const ashlar_host* given, const void*) {
  host = given;
  return ASHLAR_OK;
}

}  // namespace

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {.size = sizeof(ashlar_component),
                                              .abi_major = ASHLAR_COMPONENT_MAJOR,
                                              .abi_minor = ASHLAR_COMPONENT_MINOR,
                                              .framework = "io",
                                              .name = "incoherent",
                                              .version = "1.0.0",
                                              .description = "files that each process sees its own way, for tests",
                                              .interface_version = ASHLAR_IO_INTERFACE,
                                              .config_size = 0,
                                              .param_count = 0,
                                              .params = nullptr,
                                              .build_id = 0,
                                              .open = open_component,
                                              .query = ashlar::test::query,
                                              .create = ashlar::test::create<kOps>,
                                              .destroy = ashlar::test::destroy,
                                              .close = nullptr};
