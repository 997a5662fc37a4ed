#include "framework/io/moves.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "framework/base/failure.h"
#include "framework/io/choice.h"
#include "framework/io/choice_record.h"
#include "framework/io/engine.h"
#include "framework/io/file.h"
#include "framework/io/window.h"

namespace ashlar::io {
namespace {

using datatype::Span;

constexpr std::size_t kPieces = 256;  // handed over at a time

/// Pieces of the view, and their places in memory.
struct Batch {
  std::array<Span, kPieces> spans;
  std::array<ashlar_io_piece, kPieces> pieces;
  std::size_t used = 0;
  std::uint64_t bytes = 0;

  void look(const datatype::Tiles& tiles, std::uint64_t at, std::uint64_t wanted) {
    used = tiles.spans(at, wanted, kPieces, spans.data());
    bytes = 0;
    for (std::size_t i = 0; i < used; ++i) bytes += spans[i].bytes;
  }
  void place(std::byte* memory) {
    for (std::size_t i = 0; i < used; ++i) {
      pieces[i] = {.offset = static_cast<std::uint64_t>(spans[i].offset), .length = spans[i].bytes, .memory = memory};
      memory += spans[i].bytes;
    }
  }
  std::uint64_t begin() const { return static_cast<std::uint64_t>(spans[0].offset); }
  std::uint64_t end() const { return static_cast<std::uint64_t>(spans[used - 1].end()); }
};

/// An access, by its first pieces: as if all others were like these.
Demand demand_of(bool writes, const Batch& first, std::uint64_t bytes) {
  const double times = static_cast<double>(bytes) / static_cast<double>(first.bytes);
  return {.writes = writes,
          .bytes = static_cast<double>(bytes),
          .pieces = static_cast<double>(first.used) * times,
          .hull = static_cast<double>(first.end() - first.begin()) * times};
}

/// Whether windows may serve the pieces at all.
bool may_use_windows(const OpenFile& file, bool writes, const Batch& batch, const Config& config) {
  if (batch.used < 2 || config.forced() == Way::kList) return false;
  if (writes) return may_sieve(file);
  return file.seekable() && file.hints.sieve_reads != Switch::kOff && batch.bytes / batch.used < config.sieve_piece;
}

struct Choice {
  Way way = Way::kList;
  Demand demand;
  Estimates costs;
  Rates rates;
};

Choice choose(const OpenFile& file, bool writes, const Batch& batch, std::uint64_t bytes) {
  const Config config = Engine::current().config.get();
  Choice choice;
  if (batch.used < 2) return choice;
  choice.rates = file.meter->rates();
  choice.demand = demand_of(writes, batch, bytes);
  const std::uint64_t window = writes ? file.hints.sieve_write_bytes : file.hints.sieve_read_bytes;
  choice.costs = estimate_alone(choice.demand, static_cast<double>(window), choice.rates);
  const bool open = may_use_windows(file, writes, batch, config);
  const Switch hint = writes ? file.hints.sieve_writes : file.hints.sieve_reads;
  const bool forced = open && (config.forced() == Way::kSieve || hint == Switch::kOn);
  choice.way = forced ? Way::kSieve : cheapest(choice.costs, {.sieve = open});
  return choice;
}

/// How far, up to `limit`, the file is about as full of the access's bytes as it is in the batch.
std::uint64_t dense_end(const Stream& stream, const Batch& batch, std::uint64_t limit) {
  const std::uint64_t hull = batch.end() - batch.begin();
  std::uint64_t end = batch.end();
  for (std::uint64_t times = 1; end < limit; times *= 2) {
    const std::uint64_t next = limit - end < hull * times ? limit : end + hull * times;
    std::uint64_t first = 0, last = 0;
    stream.between(end, next, &first, &last);
    const double share = static_cast<double>(last - first) / static_cast<double>(next - end);
    if (2 * share * static_cast<double>(hull) < static_cast<double>(batch.bytes)) break;
    end = next;
  }
  return end;
}

/// The access through windows of the file.
class Windowed {
 public:
  Windowed(OpenFile& file, bool writes, const Stream& stream)
      : file_(file), stream_(stream), room_(writes ? file.hints.sieve_write_bytes : file.hints.sieve_read_bytes) {}

  /// Reads the pieces of the batch; `*moved` as move_bytes.
  Status read(const Batch& batch, std::uint64_t* moved) {
    for (std::size_t i = 0; i < batch.used; ++i) {
      const ashlar_io_piece& piece = batch.pieces[i];
      for (std::uint64_t done = 0; done < piece.length;) {
        const std::uint64_t at = piece.offset + done;
        if (at < begin_ || at >= begin_ + wanted_) ASHLAR_TRY(load(at, batch));
        if (at >= begin_ + held_) return {};  // the end of the file
        const std::uint64_t now = std::min(piece.length - done, begin_ + held_ - at);
        std::memcpy(static_cast<std::byte*>(piece.memory) + done, memory_.get() + (at - begin_), now);
        done += now;
        *moved += now;
      }
    }
    return {};
  }

  /// Writes what lies in a window that begins with the batch.
  Status write(const Batch& batch, std::uint64_t* moved) {
    if (memory_.get() == nullptr) ASHLAR_TRY(memory_.take(room_ + kAligned));
    const std::uint64_t begin = batch.begin(), limit = limit_of(begin);
    std::uint64_t first = 0, last = 0;
    stream_.between(begin, batch.end() < limit ? dense_end(stream_, batch, limit) : limit, &first, &last);
    Span end;
    static_cast<void>(stream_.tiles->spans(last - 1, 1, 1, &end));
    ASHLAR_TRY(
        write_over(file_, stream_, begin, static_cast<std::uint64_t>(end.end()), memory_.get() + begin % kAligned));
    *moved = last - first;
    return {};
  }

 private:
  std::uint64_t limit_of(std::uint64_t begin) const { return std::min<std::uint64_t>(begin + room_, INT64_MAX); }
  Status load(std::uint64_t at, const Batch& batch) {
    if (memory_.get() == nullptr) ASHLAR_TRY(memory_.take(room_ + kAligned));
    begin_ = at / kAligned * kAligned;
    const std::uint64_t limit = limit_of(at);
    wanted_ = (batch.end() < limit ? dense_end(stream_, batch, limit) : limit) - begin_;
    return read_window(file_, begin_, wanted_, memory_.get(), &held_);
  }

  OpenFile& file_;
  const Stream& stream_;
  const std::uint64_t room_;
  WindowMemory memory_;
  std::uint64_t begin_ = 0, wanted_ = 0, held_ = 0;
};

/// Bytes of the view that do not lie in a row. Apart from the short path: batches take room on the stack.
[[gnu::noinline]] Status move_apart(OpenFile& file, bool writes, const Stream& stream, std::byte* memory,
                                    std::uint64_t* moved) {
  const std::uint64_t bytes = stream.to - stream.from;
  const bool ascends = file.view.ascends(stream.to);
  Windowed windowed(file, writes, stream);
  Batch batch;
  while (*moved < bytes) {
    batch.look(*stream.tiles, stream.from + *moved, bytes - *moved);
    batch.place(memory + *moved);
    std::uint64_t done = 0;
    Status step;
    if (!ascends || choose(file, writes, batch, bytes - *moved).way == Way::kList)
      step = move_pieces(file, writes, batch.pieces.data(), batch.used, &done);
    else
      step = writes ? windowed.write(batch, &done) : windowed.read(batch, &done);
    *moved += done;
    ASHLAR_TRY(step);
    if (done < batch.bytes && !writes) break;
  }
  return {};
}

}  // namespace

/// Of bytes that do not lie in a row. Apart from the short path, as move_apart.
[[gnu::noinline]] static void record_choice_apart(OpenFile& file, const char* call, bool writes, std::uint64_t at,
                                                  std::uint64_t bytes) {
  Batch batch;
  batch.look(*file.view.tiles, at, bytes);
  const Choice choice = choose(file, writes, batch, bytes);
  record_choice(file, call, choice.demand, choice.costs, choice.rates, choice.way, nullptr);
}

void record_own_choice(OpenFile& file, const char* call, bool writes, std::uint64_t at, std::uint64_t bytes) {
  if (bytes == 0 || file.view.tiles->contiguous() || !file.view.ascends(at + bytes)) return;
  Span first;
  if (file.view.tiles->spans(at, bytes, 1, &first) == 1 && first.bytes == bytes) return;
  record_choice_apart(file, call, writes, at, bytes);
}

Status move_bytes(OpenFile& file, bool writes, std::uint64_t at, std::byte* memory, std::uint64_t bytes,
                  std::uint64_t* moved) {
  const datatype::Tiles& tiles = *file.view.tiles;
  *moved = 0;
  Span first;
  if (tiles.spans(at, bytes, 1, &first) == 1 && first.bytes == bytes) {
    const ashlar_io_piece whole = {
        .offset = static_cast<std::uint64_t>(first.offset), .length = bytes, .memory = memory};
    return move_pieces(file, writes, &whole, 1, moved);
  }
  const Stream stream = {.tiles = &tiles,
                         .from = at,
                         .to = at + bytes,
                         .buffer = DataView::of(memory, static_cast<MPI_Count>(bytes), datatype::predefined(MPI_BYTE))};
  return move_apart(file, writes, stream, memory, moved);
}

}  // namespace ashlar::io
