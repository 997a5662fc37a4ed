#include "framework/io/moves.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "framework/base/failure.h"
#include "framework/io/cost.h"
#include "framework/io/engine.h"
#include "framework/io/file.h"
#include "framework/io/range_lock.h"
#include "framework/io/window.h"
#include "framework/plugin/host.h"

namespace ashlar::io {
namespace {

using datatype::Span;

constexpr std::size_t kPieces = 256;    // handed over at a time
constexpr std::uint64_t kMostGaps = 8;  // bytes of the file for each byte that is wanted

/// Pieces of the view with their places in memory.
struct Batch {
  std::array<Span, kPieces> spans;
  std::array<ashlar_io_piece, kPieces> pieces;
  std::size_t used = 0;
  std::uint64_t bytes = 0;

  void fill(const datatype::Tiles& tiles, std::uint64_t at, std::byte* memory, std::uint64_t wanted) {
    used = tiles.spans(at, wanted, kPieces, spans.data());
    bytes = 0;
    for (std::size_t i = 0; i < used; ++i) {
      pieces[i] = {
          .offset = static_cast<std::uint64_t>(spans[i].offset), .length = spans[i].bytes, .memory = memory + bytes};
      bytes += spans[i].bytes;
    }
  }
  /// Whether one read of all of it, gaps included, is better than one for each piece.
  bool is_dust(std::uint64_t below) const {
    if (used < 2 || bytes / used >= below) return false;
    return static_cast<std::uint64_t>(spans[used - 1].end() - spans[0].offset) <= kMostGaps * bytes;
  }
};

/// A part of the file in memory.
class ReadWindow {
 public:
  ~ReadWindow() { std::free(memory_); }
  ReadWindow() = default;
  ReadWindow(const ReadWindow&) = delete;
  ReadWindow& operator=(const ReadWindow&) = delete;

  /// Reads the pieces of the batch; `*moved` as move_bytes.
  Status read(OpenFile& file, const Batch& batch, std::uint64_t* moved) {
    const auto horizon = static_cast<std::uint64_t>(batch.spans[batch.used - 1].end());
    for (std::size_t i = 0; i < batch.used; ++i) {
      const ashlar_io_piece& piece = batch.pieces[i];
      for (std::uint64_t done = 0; done < piece.length;) {
        const std::uint64_t at = piece.offset + done;
        if (at < begin_ || at >= begin_ + wanted_) ASHLAR_TRY(load(file, at, horizon));
        if (at >= begin_ + held_) return {};  // the end of the file
        const std::uint64_t now = std::min(piece.length - done, begin_ + held_ - at);
        std::memcpy(static_cast<std::byte*>(piece.memory) + done, memory_ + (at - begin_), now);
        done += now;
        *moved += now;
      }
    }
    return {};
  }

 private:
  Status load(OpenFile& file, std::uint64_t at, std::uint64_t horizon) {
    const std::uint64_t room = file.hints.sieve_read_bytes;
    if (memory_ == nullptr) memory_ = static_cast<std::byte*>(std::malloc(room));
    if (memory_ == nullptr)
      return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the buffer of a file access"}, {"bytes_wanted", room}});
    begin_ = at;
    wanted_ = std::min(room, horizon - at);
    return read_window(file, begin_, wanted_, memory_, &held_);
  }

  std::byte* memory_ = nullptr;
  std::uint64_t begin_ = 0, wanted_ = 0, held_ = 0;
};

}  // namespace

namespace {

/// Pieces as they are. Writes share their range with other writers, so that no old window is written over them; in
/// atomic mode the access has its range already.
Status move_pieces(OpenFile& file, bool writes, const Batch& batch, std::uint64_t* done) {
  const ashlar_io_piece& last = batch.pieces[batch.used - 1];
  const bool alone = writes && file.seekable() && !file.atomic;
  const RangeLock lock(file, RangeLock::Kind::kShared, alone ? batch.pieces[0].offset : 0,
                       alone ? last.offset + last.length : 0);
  const auto move = writes ? file.bytes->ops->write : file.bytes->ops->read;
  file.counts.system_calls.add(batch.used);
  return plugin::from(move(file.bytes, batch.pieces.data(), static_cast<std::uint32_t>(batch.used), done), file.driver);
}

/// Whether a write goes through windows that are read, changed and written back.
bool sieves_writes(const OpenFile& file, const Batch& first, std::uint64_t bytes) {
  if (first.used < 2 || file.view.overlapping || !may_sieve(file)) return false;
  const Way way = Engine::current().config.get().forced();
  if (way == Way::kList) return false;
  if (way == Way::kSieve || file.hints.sieve_writes == Switch::kOn) return true;
  const auto hull = static_cast<std::uint64_t>(first.spans[first.used - 1].end() - first.spans[0].offset);
  const std::uint64_t window = std::max(hull, file.hints.sieve_write_bytes);
  const std::uint64_t times = bytes / first.bytes + 1;
  return cost::sieve(true, hull * times, window, first.used * times, bytes) < cost::list(first.used * times, bytes);
}

Status write_windows(OpenFile& file, std::uint64_t at, std::byte* memory, std::uint64_t bytes, std::uint64_t* moved) {
  const datatype::Tiles& tiles = *file.view.tiles;
  const std::uint64_t room = file.hints.sieve_write_bytes;
  const std::unique_ptr<std::byte, void (*)(void*)> taken(static_cast<std::byte*>(std::malloc(room + mask_bytes(room))),
                                                          std::free);
  if (taken == nullptr)
    return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the buffer of a file access"}, {"bytes_wanted", room}});
  const Stream stream = {.tiles = &tiles,
                         .from = at,
                         .to = at + bytes,
                         .buffer = DataView::of(memory, static_cast<MPI_Count>(bytes), datatype::predefined(MPI_BYTE))};
  while (*moved < bytes) {
    datatype::Span next;
    static_cast<void>(tiles.spans(at + *moved, 1, 1, &next));
    const std::uint64_t begin = static_cast<std::uint64_t>(next.offset) / 64 * 64;
    const Window window = {
        .begin = begin, .bytes = room, .data = taken.get(), .mask = reinterpret_cast<Mask*>(taken.get() + room)};
    std::memset(window.mask, 0, mask_bytes(room));
    stream.put(begin, begin + room, window.data, window.mask);
    std::uint64_t first = 0, last = 0;
    stream.between(begin, begin + room, &first, &last);
    ASHLAR_TRY(write_marked(file, window));
    *moved = last - at;
  }
  return {};
}

}  // namespace

Status move_bytes(OpenFile& file, bool writes, std::uint64_t at, std::byte* memory, std::uint64_t bytes,
                  std::uint64_t* moved) {
  const Config config = Engine::current().config.get();
  std::uint64_t dust = writes || !file.seekable() || file.hints.sieve_reads == Switch::kOff ? 0 : config.sieve_piece;
  if (config.forced() == Way::kList) dust = 0;
  ReadWindow window;
  Batch batch;
  *moved = 0;
  while (*moved < bytes) {
    batch.fill(*file.view.tiles, at + *moved, memory + *moved, bytes - *moved);
    if (writes && *moved == 0 && sieves_writes(file, batch, bytes))
      return write_windows(file, at, memory, bytes, moved);
    std::uint64_t done = 0;
    const Status step = batch.is_dust(dust) ? window.read(file, batch, &done) : move_pieces(file, writes, batch, &done);
    *moved += done;
    ASHLAR_TRY(step);
    if (done < batch.bytes) break;
  }
  return {};
}

}  // namespace ashlar::io
