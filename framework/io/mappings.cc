#include "framework/io/mappings.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "framework/base/clock.h"
#include "framework/io/engine.h"
#include "framework/io/file.h"
#include "framework/io/outside_lock.h"
#include "framework/io/range_lock.h"
#include "framework/io/window.h"
#include "framework/plugin/host.h"

namespace ashlar::io {
namespace {

using datatype::Span;

constexpr std::size_t kPieces = 256;                        // of one system call
constexpr std::uint64_t kPart = std::uint64_t{128} * 1024;  // bytes of one
constexpr unsigned kTries = 4;                              // of a mapping, before it may be called slow
constexpr double kMostSlower = 4;                           // than estimated; what a transfer takes longer it has slept

/// Whether copies to the file find both sides placed alike in their cache lines once the memory is (kAligned).
bool gains_by_placing(const Span* pieces, std::size_t count, const std::byte* memory) {
  const auto at = [](std::int64_t offset) { return static_cast<std::uint64_t>(offset) % kAligned; };
  if (count < 2 || pieces[0].bytes % kAligned != 0 || at(pieces[0].offset) != at(pieces[1].offset)) return false;
  return reinterpret_cast<std::uintptr_t>(memory) % kAligned != at(pieces[0].offset);
}

/// Copies the stream's bytes between memory and a mapping, of which byte 0 is byte `begin` of the file.
std::uint64_t copy(bool writes, const Stream& stream, std::byte* mapping, std::uint64_t begin, std::byte* memory) {
  std::array<Span, kPieces> spans;
  std::array<iovec, kPieces> pieces;
  WindowMemory placed;
  const pid_t self = getpid();
  std::uint64_t at = stream.from;
  while (at < stream.to) {
    const std::size_t used = stream.tiles->spans(at, std::min(stream.to - at, kPart), kPieces, spans.data());
    std::byte* const own = memory + (at - stream.from);
    iovec packed = {own, 0};
    for (std::size_t i = 0; i < used; ++i) {
      pieces[i] = {mapping + (static_cast<std::uint64_t>(spans[i].offset) - begin), spans[i].bytes};
      packed.iov_len += spans[i].bytes;
    }
    if (writes && gains_by_placing(spans.data(), used, own) && (placed.taken() || placed.take(kPart).ok())) {
      packed.iov_base = placed.at(static_cast<std::uint64_t>(spans[0].offset) % kAligned);
      std::memcpy(packed.iov_base, own, packed.iov_len);
    }
    // The pieces are the side that the system copies to and from directly. The other side's pages are looked up one by
    // one, which for each piece takes ten times as long.
    const ssize_t moved = writes ? process_vm_readv(self, pieces.data(), used, &packed, 1, 0)
                                 : process_vm_writev(self, pieces.data(), used, &packed, 1, 0);
    if (moved < 0 && (errno == EPERM || errno == ENOSYS)) Engine::current().copies_refused.store(true);
    if (moved > 0) at += static_cast<std::uint64_t>(moved);
    if (moved != static_cast<ssize_t>(packed.iov_len)) break;
  }
  return at - stream.from;
}

/// The last byte goes by a system call before the others: it makes the file long enough for all of them, and changes
/// the time of its last change, which stores do not on every file system. False: another way finds out why.
bool write_last(OpenFile& file, const Stream& stream, std::uint64_t end, std::byte* memory) {
  const ashlar_io_piece piece = {.offset = end - 1, .length = 1, .memory = memory + (stream.to - stream.from - 1)};
  std::uint64_t done = 0;
  file.counts.system_calls.add();
  return file.bytes->ops->write(file.bytes, &piece, 1, &done) == ASHLAR_OK;
}

/// Pages of a file in memory that all are written: at once they take a quarter of what their faults take. Where that is
/// refused, or there is no room, the faults come, and the copy finds out.
void make_pages(std::byte* mapping, std::uint64_t first, std::uint64_t end) {
  constexpr std::uint64_t kBytes = 4096;
  static_cast<void>(::madvise(mapping + first / kBytes * kBytes, end - first / kBytes * kBytes, MADV_POPULATE_WRITE));
}

/// Whether the file has all bytes up to `end`, and no holes that a mapping would fill: in memory a page takes room when
/// it is read.
bool is_there(OpenFile& file, std::uint64_t end) {
  ashlar_io_stat found;
  if (!stat_of(file, &found).ok() || found.bytes < end) return false;
  return (file.bytes->capabilities & ASHLAR_IO_NO_DEVICE) == 0 || found.allocated >= found.bytes;
}

}  // namespace

std::uint64_t map_room() { return Engine::current().config.get().map_bytes; }

bool may_map(const OpenFile& file, bool writes) {
  const ashlar_io_file_ops& ops = *file.bytes->ops;
  return ASHLAR_HAS(&ops, unmap) && ops.map != nullptr && file.seekable() && file.coherent() && !file.atomic &&
         file.reads() && (!writes || file.writes()) && !Engine::current().copies_refused.load() && map_room() > 0;
}

std::uint64_t Mappings::move(OpenFile& file, bool writes, const Stream& stream, std::byte* memory,
                             const MapWish& wish) {
  const std::unique_lock guard(busy_, std::try_to_lock);
  if (!guard.owns_lock()) return 0;
  Range* range = find(wish);
  if (range == nullptr && wish.forced) range = &make(file, wish);
  if (range == nullptr) return 0;
  const double other = others(*range, writes, wish);
  if (!wish.forced && (other <= wish.estimate || (range->memory == nullptr && !range->account.worth_it()))) return 0;
  const bool made = range->memory == nullptr;
  if (made && !map(file, *range)) return 0;
  range->used = ++accesses_;
  const std::uint64_t start = now_ns();
  std::uint64_t moved = 0;
  if (writes)
    moved = write(file, *range, stream, memory, wish, made);
  else if (is_there(file, wish.end))
    moved = copy(false, stream, range->memory, range->begin, memory);
  if (moved > 0) file.counts.mapped.add();
  if (made) return moved;  // its faults are paid for
  const auto took = static_cast<double>(now_ns() - start);
  if (moved == stream.to - stream.from) range->mapped[writes ? 1 : 0].add(took, wish.bytes);
  if (!range->account.used(other - took) && !wish.forced) unmap(file, *range);
  return moved;
}

void Mappings::passed_by(OpenFile& file, bool writes, const MapWish& wish, double took) {
  const std::unique_lock guard(busy_, std::try_to_lock);
  if (!guard.owns_lock()) return;
  Range* range = find(wish);
  if (range == nullptr) range = &make(file, wish);
  range->used = ++accesses_;
  double& slower = range->slower[writes ? 1 : 0];
  if (took > 0) {
    range->other_ways[writes ? 1 : 0].add(took, wish.bytes);
    slower = (3 * slower + std::clamp(took / wish.others, 1 / kMostSlower, kMostSlower)) / 4;
  }
  range->account.passed_by(others(*range, writes, wish) - wish.estimate);
}

/// Windows that others read and write back are kept from the range meanwhile.
std::uint64_t Mappings::write(OpenFile& file, const Range& range, const Stream& stream, std::byte* memory,
                              const MapWish& wish, bool made) {
  const RangeLock lock(file, RangeLock::Kind::kShared, wish.first, wish.end);
  const OutsideLock others(file, OutsideLock::Kind::kShared, wish.first, wish.end - wish.first);
  if (!write_last(file, stream, wish.end, memory)) return 0;
  if (made && wish.every_page) make_pages(range.memory, wish.first - range.begin, wish.end - range.begin);
  return copy(true, stream, range.memory, range.begin, memory);
}

bool Mappings::offers(bool writes, const MapWish& wish) {
  const std::unique_lock guard(busy_, std::try_to_lock);
  const Range* const range = guard.owns_lock() ? find(wish) : nullptr;
  if (range == nullptr || (range->memory == nullptr && !range->account.worth_it())) return false;
  // The first access may have had to make what it used.
  const Pace &others = range->other_ways[writes ? 1 : 0], &mapped = range->mapped[writes ? 1 : 0];
  return others.seen > 1 && (mapped.seen < kTries || mapped.least < others.least);
}

bool Mappings::has(std::uint64_t first, std::uint64_t end) {
  const std::scoped_lock guard(busy_);
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const Range& range) { return range.memory != nullptr && range.holds(first, end); });
}

void Mappings::start_anew(OpenFile& file) {
  const std::scoped_lock guard(busy_);
  for (Range& range : ranges_) {
    unmap(file, range);
    range.account.start_anew();
  }
}

void Mappings::drop(OpenFile& file) {
  for (Range& range : ranges_) unmap(file, range);
}

Mappings::Range* Mappings::find(const MapWish& wish) {
  for (Range& range : ranges_)
    if (range.holds(wish.first, wish.end)) return &range;
  return nullptr;
}

/// In the place of a range that is not mapped, or was used long ago.
Mappings::Range& Mappings::make(OpenFile& file, const MapWish& wish) {
  Range& taken = *std::min_element(ranges_.begin(), ranges_.end(), [](const Range& one, const Range& other) {
    const bool mapped = one.memory != nullptr, other_mapped = other.memory != nullptr;
    return mapped != other_mapped ? !mapped : one.used < other.used;
  });
  unmap(file, taken);
  taken = {.begin = wish.first / kUnit * kUnit,
           .end = ((wish.end - 1) / kUnit + 1) * kUnit,
           .account = MapAccount(wish.faults)};
  return taken;
}

bool Mappings::map(OpenFile& file, Range& range) {
  const std::uint64_t bytes = range.end - range.begin;
  while (bytes_ > 0 && bytes_ + bytes > map_room()) {
    Range* oldest = nullptr;
    for (Range& one : ranges_)
      if (one.memory != nullptr && (oldest == nullptr || one.used < oldest->used)) oldest = &one;
    unmap(file, *oldest);
  }
  void* memory = nullptr;
  if (file.bytes->ops->map(file.bytes, range.begin, bytes, &memory) != ASHLAR_OK) {
    range.account.never();
    return false;
  }
  range.memory = static_cast<std::byte*>(memory);
  range.account.start_anew();
  bytes_ += bytes;
  Engine::current().mapped_bytes.add(bytes);
  return true;
}

void Mappings::unmap(OpenFile& file, Range& range) {
  if (range.memory == nullptr) return;
  const std::uint64_t bytes = range.end - range.begin;
  file.bytes->ops->unmap(file.bytes, range.memory, bytes);
  range.memory = nullptr;
  bytes_ -= bytes;
  Engine::current().mapped_bytes.add(~bytes + 1);
}

}  // namespace ashlar::io
