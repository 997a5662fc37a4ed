#include "framework/io/moves.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "framework/base/failure.h"
#include "framework/io/engine.h"
#include "framework/io/file.h"
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
class Window {
 public:
  ~Window() { std::free(memory_); }
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

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
    const std::uint64_t room = file.sieve_bytes;
    if (memory_ == nullptr) memory_ = static_cast<std::byte*>(std::malloc(room));
    if (memory_ == nullptr)
      return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the buffer of a file access"}, {"bytes_wanted", room}});
    begin_ = at;
    wanted_ = std::min(room, horizon - at);
    const ashlar_io_piece piece = {.offset = at, .length = wanted_, .memory = memory_};
    held_ = 0;
    return plugin::from(file.bytes->ops->read(file.bytes, &piece, 1, &held_), file.driver);
  }

  std::byte* memory_ = nullptr;
  std::uint64_t begin_ = 0, wanted_ = 0, held_ = 0;
};

}  // namespace

Status move_bytes(OpenFile& file, bool writes, std::uint64_t at, std::byte* memory, std::uint64_t bytes,
                  std::uint64_t* moved) {
  const std::uint64_t dust = writes || !file.seekable() ? 0 : Engine::current().config.sieve_piece;
  Window window;
  Batch batch;
  *moved = 0;
  while (*moved < bytes) {
    batch.fill(*file.view.tiles, at + *moved, memory + *moved, bytes - *moved);
    std::uint64_t done = 0;
    Status step;
    if (batch.is_dust(dust)) {
      step = window.read(file, batch, &done);
    } else {
      const auto move = writes ? file.bytes->ops->write : file.bytes->ops->read;
      step = plugin::from(move(file.bytes, batch.pieces.data(), static_cast<std::uint32_t>(batch.used), &done),
                          file.driver);
    }
    *moved += done;
    ASHLAR_TRY(step);
    if (done < batch.bytes) break;
  }
  return {};
}

}  // namespace ashlar::io
