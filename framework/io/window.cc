#include "framework/io/window.h"

#include <mpi.h>

#include <array>
#include <bit>
#include <cstring>

#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/io/choice.h"
#include "framework/io/file.h"
#include "framework/io/outside_lock.h"
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
    if (word == ~Mask{0} && before) {
      all.end = i * 64 + 64;
      all.bytes += 64;
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

Status write_runs(OpenFile& file, const Window& window, const Marked& marked) {
  std::array<ashlar_io_piece, kPieces> pieces;
  std::size_t used = 0;
  std::uint64_t done = 0;
  for (std::uint64_t at = marked.first; at < marked.end;) {
    const std::uint64_t end = next(window, at, marked.end, false);
    pieces[used++] = {.offset = window.begin + at, .length = end - at, .memory = window.data + at};
    if (used == kPieces) {
      ASHLAR_TRY(move_pieces(file, true, pieces.data(), used, &done));
      used = 0;
    }
    at = next(window, end, marked.end, true);
  }
  return used == 0 ? Status() : move_pieces(file, true, pieces.data(), used, &done);
}

/// Fills the gaps with what the file has there.
void fill_gaps(const Window& window, const Marked& marked, const std::byte* old) {
  for (std::uint64_t at = next(window, marked.first, marked.end, false); at < marked.end;) {
    const std::uint64_t end = next(window, at, marked.end, true);
    std::memcpy(window.data + at, old + (at - marked.first), end - at);
    at = next(window, end, marked.end, false);
  }
}

Status write_part(OpenFile& file, std::uint64_t begin, std::uint64_t bytes, std::byte* memory) {
  const ashlar_io_piece piece = {.offset = begin, .length = bytes, .memory = memory};
  std::uint64_t done = 0;
  file.counts.system_calls.add();
  const std::uint64_t start = now_ns();
  const Status written = plugin::from(file.bytes->ops->write(file.bytes, &piece, 1, &done), file.driver);
  if (written.ok()) file.meter->moved_window(true, bytes, static_cast<double>(now_ns() - start));
  return written;
}

/// What the file has in [begin, begin + bytes); zeros behind its end, as a gap has there.
Status read_old(OpenFile& file, std::uint64_t begin, std::uint64_t bytes, std::byte* memory) {
  std::uint64_t valid = 0;
  file.counts.sieved.add();
  ASHLAR_TRY(read_window(file, begin, bytes, memory, &valid));
  std::memset(memory + valid, 0, bytes - valid);
  return {};
}

Status sieve(OpenFile& file, const Window& window, const Marked& marked) {
  const std::uint64_t first = marked.first / kAligned * kAligned;
  WindowMemory old;
  ASHLAR_TRY(old.take(marked.end - first));
  // In atomic mode the access has its range already.
  const RangeLock lock(file, RangeLock::Kind::kExclusive, file.atomic ? 0 : window.begin + marked.first,
                       file.atomic ? 0 : window.begin + marked.end);
  const OutsideLock others(file, OutsideLock::Kind::kExclusive, window.begin + marked.first, marked.end - marked.first);
  std::byte* const there = old.at(window.begin + first);
  ASHLAR_TRY(read_old(file, window.begin + first, marked.end - first, there));
  fill_gaps(window, marked, there + (marked.first - first));
  return write_part(file, window.begin + marked.first, marked.end - marked.first, window.data + marked.first);
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
  const std::uint64_t start = now_ns();
  const Status read = plugin::from(file.bytes->ops->read(file.bytes, &piece, 1, valid), file.driver);
  if (read.ok()) file.meter->moved_window(false, *valid, static_cast<double>(now_ns() - start));
  return read;
}

Status move_pieces(OpenFile& file, bool writes, const ashlar_io_piece* pieces, std::size_t count, std::uint64_t* done) {
  std::uint64_t first = 0, end = 0;
  if (writes && file.seekable() && !file.atomic) {
    first = pieces[0].offset;
    for (std::size_t i = 0; i < count; ++i) {
      first = std::min(first, pieces[i].offset);
      end = std::max(end, pieces[i].offset + pieces[i].length);
    }
  }
  const RangeLock lock(file, RangeLock::Kind::kShared, first, end);
  const auto move = writes ? file.bytes->ops->write : file.bytes->ops->read;
  const bool measured = count >= Meter::kLeastPieces;
  file.counts.system_calls.add(count);
  const std::uint64_t start = measured ? now_ns() : 0;
  const Status moved = plugin::from(move(file.bytes, pieces, static_cast<std::uint32_t>(count), done), file.driver);
  if (measured && moved.ok()) file.meter->moved_pieces(writes, count, *done, static_cast<double>(now_ns() - start));
  return moved;
}

Status WindowMemory::take(std::uint64_t bytes) {
  std::free(all_);
  all_ = std::malloc(bytes + 2 * kPage);
  if (all_ == nullptr)
    return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the buffer of a file access"}, {"bytes_wanted", bytes}});
  const auto address = reinterpret_cast<std::uintptr_t>(all_);
  pages_ = static_cast<std::byte*>(all_) + (kPage - address % kPage) % kPage;
  return {};
}

Status write_over(OpenFile& file, const Stream& stream, std::uint64_t begin, std::uint64_t end, std::byte* memory) {
  std::uint64_t first = 0, last = 0;
  stream.between(begin, end, &first, &last);
  // In atomic mode the access has its range already.
  const RangeLock lock(file, RangeLock::Kind::kExclusive, file.atomic ? 0 : begin, file.atomic ? 0 : end);
  const OutsideLock others(file, OutsideLock::Kind::kExclusive, begin, end - begin);
  if (last - first < end - begin) ASHLAR_TRY(read_old(file, begin, end - begin, memory));
  stream.put(begin, end, memory, nullptr);
  return write_part(file, begin, end - begin, memory);
}

Status write_marked(OpenFile& file, const Window& window) {
  const Marked marked = look_at(window);
  if (marked.runs == 0) return {};
  if (marked.runs > 1 && may_sieve(file)) {
    const auto hull = static_cast<double>(marked.end - marked.first);
    const Demand demand = {.writes = true,
                           .bytes = static_cast<double>(marked.bytes),
                           .pieces = static_cast<double>(marked.runs),
                           .hull = hull};
    const Estimates costs = estimate_alone(demand, hull, file.meter->rates());
    if (file.hints.sieve_writes == Switch::kOn || cheapest(costs, {.sieve = true}) == Way::kSieve)
      return sieve(file, window, marked);
  }
  return write_runs(file, window, marked);
}

}  // namespace ashlar::io
