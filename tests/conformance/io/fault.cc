// A component of io for tests: the driver behind it, with faults. Its parameters say which; without any it adds
// nothing.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/io/in_front.h"

namespace {

using ashlar::test::host;

struct Config {
  std::uint64_t room = 0;
  std::int32_t room_error = 0;
  std::uint64_t bad_offset = 0, bad_bytes = 0;
  std::uint64_t slice = 0;
  bool reorder = false;
  std::uint64_t delay = 0;  // ns
  std::uint64_t lie = 0;
  bool lost = false;
};

constexpr const char* kRoomErrors[] = {"no_space", "quota", "too_large", nullptr};
constexpr const char* kBytesRange[] = {"0", "1TiB", nullptr};
constexpr const char* kDelayRange[] = {"0", "1s", nullptr};

#define ROW_OF_BYTES(name, what) \
  { #name, "0", what, ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_DEV_BASIC, 0, offsetof(Config, name), kBytesRange }
constexpr ashlar_param kParams[] = {
    ROW_OF_BYTES(room, "Bytes that a file has room for; what is written behind them fails. 0: any."),
    {"room_error", "no_space", "How it fails.", ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_DEV_BASIC, 0,
     offsetof(Config, room_error), kRoomErrors},
    ROW_OF_BYTES(bad_offset, "Where a range of files begins that can be neither read nor written."),
    ROW_OF_BYTES(bad_bytes, "How long it is. 0: there is none."),
    ROW_OF_BYTES(slice, "Bytes that are moved at a time. 0: all."),
    {"reorder", "false", "Pieces are moved in the reverse order.", ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL,
     ASHLAR_DEV_BASIC, 0, offsetof(Config, reorder), nullptr},
    {"delay", "0s", "The longest time that a transfer waits before it begins.", ASHLAR_PARAM_DURATION,
     ASHLAR_SCOPE_LOCAL, ASHLAR_DEV_BASIC, 0, offsetof(Config, delay), kDelayRange},
    ROW_OF_BYTES(lie, "The byte of files that is written wrongly. 0: none."),
    {"lost", "false", "What was written is lost: sync and close fail.", ASHLAR_PARAM_BOOL, ASHLAR_SCOPE_LOCAL,
     ASHLAR_DEV_BASIC, 0, offsetof(Config, lost), nullptr},
};

const Config* config;

struct File : ashlar_io_front_file {
  std::string path;
};

File& of(ashlar_io_file* file) { return *static_cast<File*>(reinterpret_cast<ashlar_io_front_file*>(file)); }

ashlar_result failed(const File& file, int mpi_class, const char* call, int error, std::uint64_t offset) {
  const ashlar_fact facts[] = {{"path", file.path.c_str(), 0},
                               {"call", call, 0},
                               {"offset", nullptr, static_cast<std::int64_t>(offset)},
                               {"lower", std::strerror(error), 0}};
  return ashlar_fail_with(host, mpi_class, "io.system_at", facts, 4);
}

void wait() {
  if (config->delay == 0) return;
  static std::atomic<std::uint64_t> count{0};
  const std::uint64_t random = (count.fetch_add(1) + 1) * 0x9e3779b97f4a7c15u >> 33;
  std::this_thread::sleep_for(std::chrono::nanoseconds(random % (config->delay + 1)));
}

/// How much of [offset, offset + length) can be moved.
std::uint64_t good(std::uint64_t offset, std::uint64_t length, bool writes) {
  std::uint64_t end = offset + length;
  if (writes && config->room > 0) end = std::min(end, std::max(offset, config->room));
  const std::uint64_t bad = config->bad_offset, bad_end = bad + config->bad_bytes;
  if (bad < bad_end && offset < bad_end && bad < end) end = std::max(offset, bad);
  return end - offset;
}

ashlar_result error_at(const File& file, std::uint64_t offset, bool writes) {
  const char* const call = writes ? "pwritev" : "preadv";
  if (!writes || config->room == 0 || offset < config->room) return failed(file, MPI_ERR_IO, call, EIO, offset);
  if (config->room_error == 0) return failed(file, MPI_ERR_NO_SPACE, call, ENOSPC, offset);
  if (config->room_error == 1) return failed(file, MPI_ERR_QUOTA, call, EDQUOT, offset);
  return failed(file, MPI_ERR_IO, call, EFBIG, offset);
}

ashlar_result move_some(File& file, ashlar_io_piece piece, bool writes, std::uint64_t* done) {
  std::vector<char> wrong;
  if (writes && config->lie > 0 && piece.offset <= config->lie && config->lie < piece.offset + piece.length) {
    wrong.assign(static_cast<char*>(piece.memory), static_cast<char*>(piece.memory) + piece.length);
    wrong[config->lie - piece.offset] = static_cast<char>(0xa5);  // also where it is written back
    piece.memory = wrong.data();
  }
  wait();
  const auto move = writes ? file.next->ops->write : file.next->ops->read;
  return move(file.next, &piece, 1, done);
}

ashlar_result move_piece(File& file, const ashlar_io_piece& piece, bool writes, std::uint64_t* done) {
  const std::uint64_t whole = good(piece.offset, piece.length, writes);
  const std::uint64_t slice = config->slice > 0 ? config->slice : whole;
  while (*done < whole) {
    const ashlar_io_piece part = {.offset = piece.offset + *done,
                                  .length = std::min(slice, whole - *done),
                                  .memory = static_cast<char*>(piece.memory) + *done};
    std::uint64_t moved = 0;
    const ashlar_result result = move_some(file, part, writes, &moved);
    *done += moved;
    if (result != ASHLAR_OK || moved < part.length) return result;
  }
  return whole < piece.length ? error_at(file, piece.offset + whole, writes) : ASHLAR_OK;
}

// The bytes of a read are counted in the order of the pieces, up to the first that is not whole.
ashlar_result transfer(File& file, const ashlar_io_piece* pieces, std::uint32_t count, bool writes,
                       std::uint64_t* done) {
  *done = 0;
  const bool plain = config->bad_bytes == 0 && config->room == 0 && config->slice == 0 && config->lie == 0;
  if ((plain && !config->reorder) || (file.head.capabilities & ASHLAR_IO_SEEKABLE) == 0) {
    wait();
    return (writes ? file.next->ops->write : file.next->ops->read)(file.next, pieces, count, done);
  }
  std::vector<std::uint64_t> moved(count, 0);
  ashlar_result first = ASHLAR_OK;
  for (std::uint32_t i = 0; i < count && first == ASHLAR_OK; ++i) {
    const std::uint32_t which = config->reorder ? count - 1 - i : i;
    first = move_piece(file, pieces[which], writes, &moved[which]);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    *done += moved[i];
    if (moved[i] < pieces[i].length) break;
  }
  return first;
}

ashlar_result read(ashlar_io_file* file, const ashlar_io_piece* pieces, std::uint32_t count, std::uint64_t* done) {
  return transfer(of(file), pieces, count, false, done);
}
ashlar_result write(ashlar_io_file* file, const ashlar_io_piece* pieces, std::uint32_t count, std::uint64_t* done) {
  return transfer(of(file), pieces, count, true, done);
}
ashlar_result allocate(ashlar_io_file* file, std::uint64_t bytes) {
  if (config->room > 0 && bytes > config->room) return error_at(of(file), config->room, true);
  return ashlar_io_allocate_behind(file, bytes);
}
ashlar_result sync(ashlar_io_file* file) {
  if (config->lost) return failed(of(file), MPI_ERR_IO, "fdatasync", EIO, 0);
  return ashlar_io_sync_behind(file);
}
ashlar_result close(ashlar_io_file* self) {
  File& file = of(self);
  ashlar_result result = file.next->ops->close(file.next);
  if (config->lost && result == ASHLAR_OK) result = failed(file, MPI_ERR_IO, "close", EIO, 0);
  delete &file;
  return result;
}

constexpr ashlar_io_file_ops kFileOps = {.size = sizeof(ashlar_io_file_ops),
                                         .close = close,
                                         .read = read,
                                         .write = write,
                                         .stat = ashlar_io_stat_behind,
                                         .truncate = ashlar_io_truncate_behind,
                                         .allocate = allocate,
                                         .sync = sync,
                                         .refresh = ashlar_io_refresh_behind,
                                         .lock = ashlar_io_lock_behind,
                                         .unlock = ashlar_io_unlock_behind,
                                         .descriptor = nullptr,
                                         .share = nullptr,
                                         .map = nullptr,
                                         .unmap = nullptr};

ashlar_result open_file(ashlar_io_driver* self, const ashlar_io_open* wanted, ashlar_io_file** out) {
  ashlar_io_driver* const next = ashlar_io_driver_behind(self);
  ashlar_io_file* opened = nullptr;
  if (const ashlar_result result = next->ops->open(next, wanted, &opened); result != ASHLAR_OK) return result;
  auto* const file = new (std::nothrow) File;
  if (file == nullptr) return ashlar_fail_no_memory(host, "an open file", sizeof *file);
  file->head.ops = &kFileOps;
  file->head.capabilities = opened->capabilities;
  if (config->lost) file->head.capabilities &= ~std::uint64_t{ASHLAR_IO_NO_DEVICE};
  file->next = opened;
  file->path = wanted->path;
  *out = &file->head;
  return ASHLAR_OK;
}

constexpr ashlar_io_driver_ops kOps = {
    .size = sizeof(ashlar_io_driver_ops), .open = open_file, .remove = ashlar_io_remove_behind};

ashlar_result open_component(const ashlar_host* given, const void* parameters) {
  host = given;
  config = static_cast<const Config*>(parameters);
  return ASHLAR_OK;
}

}  // namespace

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {.size = sizeof(ashlar_component),
                                              .abi_major = ASHLAR_COMPONENT_MAJOR,
                                              .abi_minor = ASHLAR_COMPONENT_MINOR,
                                              .framework = "io",
                                              .name = "fault",
                                              .version = "1.0.0",
                                              .description = "files with faults, for tests",
                                              .interface_version = ASHLAR_IO_INTERFACE,
                                              .config_size = sizeof(Config),
                                              .param_count = sizeof kParams / sizeof *kParams,
                                              .params = kParams,
                                              .build_id = 0,
                                              .open = open_component,
                                              .query = ashlar::test::query,
                                              .create = ashlar::test::create<kOps>,
                                              .destroy = ashlar::test::destroy,
                                              .close = nullptr};
