#include "framework/io/window.h"

#include <mpi.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "framework/base/failure.h"
#include "framework/io/cost.h"
#include "framework/io/file.h"
#include "framework/io/range_lock.h"
#include "framework/plugin/host.h"

namespace ashlar::io {
namespace {

constexpr std::size_t kPieces = 256;

/// What a mask marks.
struct Marked {
  std::uint64_t runs = 0, bytes = 0, first = 0, end = 0;
};

Marked look_at(const Window& window) {
  Marked all;
  bool before = false;
  for (std::uint64_t i = 0; i * 64 < window.bytes; ++i) {
    const Mask word = window.mask[i];
    if (word == 0) {
      before = false;
      continue;
    }
    if (all.bytes == 0) all.first = i * 64 + static_cast<unsigned>(std::countr_zero(word));
    all.end = i * 64 + 64 - static_cast<unsigned>(std::countl_zero(word));
    all.bytes += static_cast<unsigned>(std::popcount(word));
    all.runs += static_cast<unsigned>(std::popcount(word & ~(word << 1 | Mask{before})));
    before = (word >> 63) != 0;
  }
  return all;
}

/// The first byte from `at` on that is marked, or that is not; `end` where there is none.
std::uint64_t next(const Window& window, std::uint64_t at, std::uint64_t end, bool marked) {
  while (at < end) {
    const Mask word = (marked ? window.mask[at / 64] : ~window.mask[at / 64]) >> (at % 64);
    if (word != 0) return std::min(end, at + static_cast<unsigned>(std::countr_zero(word)));
    at = (at / 64 + 1) * 64;
  }
  return end;
}

Status write_pieces(OpenFile& file, const ashlar_io_piece* pieces, std::size_t count) {
  if (count == 0) return {};
  std::uint64_t done = 0;
  const ashlar_io_piece& last = pieces[count - 1];
  const RangeLock lock(file, RangeLock::Kind::kShared, file.atomic ? 0 : pieces[0].offset,
                       file.atomic ? 0 : last.offset + last.length);
  file.counts.system_calls.add(count);
  return plugin::from(file.bytes->ops->write(file.bytes, pieces, static_cast<std::uint32_t>(count), &done),
                      file.driver);
}

Status write_runs(OpenFile& file, const Window& window, const Marked& marked) {
  std::array<ashlar_io_piece, kPieces> pieces;
  std::size_t used = 0;
  for (std::uint64_t at = marked.first; at < marked.end;) {
    const std::uint64_t end = next(window, at, marked.end, false);
    pieces[used++] = {.offset = window.begin + at, .length = end - at, .memory = window.data + at};
    if (used == kPieces) {
      ASHLAR_TRY(write_pieces(file, pieces.data(), used));
      used = 0;
    }
    at = next(window, end, marked.end, true);
  }
  return write_pieces(file, pieces.data(), used);
}

/// Fills the gaps with what the file has there; zeros behind its end, as a gap has there.
void fill_gaps(const Window& window, const Marked& marked, const std::byte* old) {
  for (std::uint64_t at = next(window, marked.first, marked.end, false); at < marked.end;) {
    const std::uint64_t end = next(window, at, marked.end, true);
    std::memcpy(window.data + at, old + (at - marked.first), end - at);
    at = next(window, end, marked.end, false);
  }
}

/// Holds a range of the file against other jobs, as far as its component can.
class OutsideLock {
 public:
  OutsideLock(OpenFile& file, std::uint64_t first, std::uint64_t length)
      : bytes_(file.bytes), first_(first), length_(length) {
    const ashlar_io_file_ops& ops = *bytes_->ops;
    held_ = ASHLAR_HAS(&ops, unlock) && ops.lock != nullptr && ops.lock(bytes_, first, length) == ASHLAR_OK;
  }
  ~OutsideLock() {
    if (held_) bytes_->ops->unlock(bytes_, first_, length_);
  }
  OutsideLock(const OutsideLock&) = delete;
  OutsideLock& operator=(const OutsideLock&) = delete;

 private:
  ashlar_io_file* const bytes_;
  const std::uint64_t first_, length_;
  bool held_ = false;
};

Status sieve(OpenFile& file, const Window& window, const Marked& marked) {
  const std::uint64_t bytes = marked.end - marked.first;
  const std::unique_ptr<std::byte, void (*)(void*)> old(static_cast<std::byte*>(std::malloc(bytes)), std::free);
  if (old == nullptr)
    return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the buffer of a file access"}, {"bytes_wanted", bytes}});
  // In atomic mode the access has its range already.
  const RangeLock lock(file, RangeLock::Kind::kExclusive, file.atomic ? 0 : window.begin + marked.first,
                       file.atomic ? 0 : window.begin + marked.end);
  const OutsideLock others(file, window.begin + marked.first, bytes);
  std::uint64_t valid = 0, done = 0;
  ASHLAR_TRY(read_window(file, window.begin + marked.first, bytes, old.get(), &valid));
  std::memset(old.get() + valid, 0, bytes - valid);
  fill_gaps(window, marked, old.get());
  const ashlar_io_piece piece = {
      .offset = window.begin + marked.first, .length = bytes, .memory = window.data + marked.first};
  file.counts.system_calls.add();
  file.counts.sieved.add();
  return plugin::from(file.bytes->ops->write(file.bytes, &piece, 1, &done), file.driver);
}

}  // namespace

bool may_sieve(const OpenFile& file) {
  return file.shared != nullptr && file.coherent() && file.reads() && file.writes() && file.seekable() &&
         file.hints.sieve_writes != Switch::kOff;
}

Status read_window(OpenFile& file, std::uint64_t begin, std::uint64_t bytes, std::byte* data, std::uint64_t* valid) {
  const ashlar_io_piece piece = {.offset = begin, .length = bytes, .memory = data};
  *valid = 0;
  file.counts.system_calls.add();
  return plugin::from(file.bytes->ops->read(file.bytes, &piece, 1, valid), file.driver);
}

Status write_marked(OpenFile& file, const Window& window) {
  const Marked marked = look_at(window);
  if (marked.runs == 0) return {};
  const std::uint64_t hull = marked.end - marked.first;
  if (marked.runs > 1 && may_sieve(file) &&
      (file.hints.sieve_writes == Switch::kOn ||
       cost::sieve(true, hull, hull, 0, 0) < cost::list(marked.runs, marked.bytes)))
    return sieve(file, window, marked);
  return write_runs(file, window, marked);
}

}  // namespace ashlar::io
