#include "framework/io/moves.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "framework/base/clock.h"
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
  if (!may_map(file, writes) || (config.forced() != Way::kAuto && config.forced() != Way::kMapped))
    choice.costs.mapped = cost::kForbidden;
  const bool open = may_use_windows(file, writes, batch, config);
  const Switch hint = writes ? file.hints.sieve_writes : file.hints.sieve_reads;
  const bool forced = open && (config.forced() == Way::kSieve || hint == Switch::kOn);
  choice.way = forced ? Way::kSieve : cheapest(choice.costs, {.sieve = open});
  return choice;
}

/// What a mapping would mean for an access whose pieces ascend, and which begins with the batch.
MapWish wish_of(const OpenFile& file, const Choice& choice, const Batch& first, const Stream& stream) {
  Span last;
  static_cast<void>(stream.tiles->spans(stream.to - 1, 1, 1, &last));
  const bool every_page =
      (file.bytes->capabilities & ASHLAR_IO_NO_DEVICE) != 0 && choice.demand.hull <= choice.demand.pieces * cost::kPage;
  return {.first = first.begin(),
          .end = static_cast<std::uint64_t>(last.end()),
          .bytes = choice.demand.bytes,
          .others = choice.way == Way::kSieve ? choice.costs.sieve : choice.costs.list,
          .estimate = choice.costs.mapped,
          .faults = cost::faults(choice.demand.writes, every_page, choice.demand.pieces, choice.demand.hull),
          .every_page = every_page,
          .forced = Engine::current().config.get().forced() == Way::kMapped};
}

/// may_wish() with the first pieces of the stream, which it looks at.
bool may_wish_first(const OpenFile& file, bool writes, const Stream& stream, Batch& first, MapWish* wish) {
  const std::uint64_t bytes = stream.to - stream.from;
  first.look(*stream.tiles, stream.from, bytes);
  const Choice choice = choose(file, writes, first, bytes);
  if (choice.costs.mapped >= cost::kForbidden) return false;
  *wish = wish_of(file, choice, first, stream);
  return (wish->forced || first.used >= Meter::kLeastPieces) && wish->end - wish->first <= map_room();
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
      : file_(file),
        writes_(writes),
        stream_(stream),
        room_(writes ? file.hints.sieve_write_bytes : file.hints.sieve_read_bytes) {}

  /// Reads what lies in a window that begins with the batch; `*ended`: the file ends before all of it.
  Status read(const Batch& batch, std::uint64_t* moved, bool* ended) {
    const std::uint64_t begin = batch.begin(), from = begin / kAligned * kAligned;
    std::uint64_t end = 0, bytes = 0, held = 0;
    ASHLAR_TRY(reach(batch, &end, &bytes));
    std::byte* const window = memory_.at(from);
    ASHLAR_TRY(read_window(file_, from, end - from, window, &held));
    *moved = from + held > begin ? stream_.get(begin, end, from + held, window + (begin - from)) : 0;
    *ended = *moved < bytes;
    return {};
  }

  /// Writes what lies in a window that begins with the batch.
  Status write(const Batch& batch, std::uint64_t* moved) {
    std::uint64_t end = 0, bytes = 0;
    ASHLAR_TRY(reach(batch, &end, &bytes));
    ASHLAR_TRY(write_over(file_, stream_, batch.begin(), end, memory_.at(batch.begin())));
    *moved = bytes;
    return {};
  }

 private:
  /// Where the last byte of the access lies in the window, and how many bytes of it are there.
  Status reach(const Batch& batch, std::uint64_t* end, std::uint64_t* bytes) {
    if (!memory_.taken()) ASHLAR_TRY(memory_.take(room_));
    const std::uint64_t begin = batch.begin(), into = writes_ ? begin % room_ : 0;
    const std::uint64_t limit = std::min<std::uint64_t>(begin - into + room_, INT64_MAX);
    std::uint64_t first = 0, last = 0;
    stream_.between(begin, batch.end() < limit ? dense_end(stream_, batch, limit) : limit, &first, &last);
    Span final_piece;
    static_cast<void>(stream_.tiles->spans(last - 1, 1, 1, &final_piece));
    *end = static_cast<std::uint64_t>(final_piece.end());
    *bytes = last - first;
    return {};
  }

  OpenFile& file_;
  const bool writes_;
  const Stream& stream_;
  const std::uint64_t room_;
  WindowMemory memory_;
};

/// Where in the stream this process begins to write through windows: processes whose pieces lie between each other
/// would all wait for the first window if each began there.
std::uint64_t first_to_write(const OpenFile& file, const Stream& stream) {
  const std::uint64_t room = file.hints.sieve_write_bytes;
  Span first, last;
  static_cast<void>(stream.tiles->spans(stream.from, 1, 1, &first));
  static_cast<void>(stream.tiles->spans(stream.to - 1, 1, 1, &last));
  const std::uint64_t begin = static_cast<std::uint64_t>(first.offset) / room;
  const std::uint64_t windows = static_cast<std::uint64_t>(last.end() - 1) / room - begin + 1;
  const auto rank = static_cast<std::uint64_t>(file.comm->rank), all = static_cast<std::uint64_t>(file.comm->size);
  const std::uint64_t skipped = windows / all * rank + windows % all * rank / all;
  if (skipped == 0) return stream.from;
  std::uint64_t from = 0, to = 0;
  stream.between((begin + skipped) * room, (begin + skipped + 1) * room, &from, &to);
  return from < stream.to ? from : stream.from;
}

/// An access to bytes of the view that do not lie in a row.
class Apart {
 public:
  Apart(OpenFile& file, bool writes, const Stream& stream, std::byte* memory)
      : file_(file),
        writes_(writes),
        stream_(stream),
        memory_(memory),
        ascends_(file.view.ascends(stream.to)),
        windowed_(file, writes, stream) {}

  /// `*moved`: as move_bytes.
  Status all(std::uint64_t* moved) {
    *moved = 0;
    MapWish wish;
    if (!ascends_ || !may_wish_first(file_, writes_, stream_, batch_, &wish)) return by_system_calls(moved);
    *moved = file_.mappings.move(file_, writes_, stream_, memory_, wish);
    if (*moved == 0) {
      const std::uint64_t start = now_ns();
      const Status step = by_system_calls(moved);
      if (step.ok()) file_.mappings.passed_by(file_, writes_, wish, static_cast<double>(now_ns() - start));
      return step;
    }
    std::uint64_t behind = 0;
    const Status step = part(stream_.from + *moved, stream_.to, &behind);
    *moved += behind;
    return step;
  }

 private:
  Status by_system_calls(std::uint64_t* moved) {
    std::uint64_t first = writes_ && ascends_ ? first_to_write(file_, stream_) : stream_.from;
    if (first > stream_.from) {
      look(stream_.from, stream_.to);
      if (chosen(stream_.from, stream_.to) != Way::kSieve) first = stream_.from;
    }
    std::uint64_t behind = 0;
    if (first > stream_.from) ASHLAR_TRY(part(first, stream_.to, &behind));
    ASHLAR_TRY(part(stream_.from, first > stream_.from ? first : stream_.to, moved));
    *moved += behind;
    return {};
  }

  void look(std::uint64_t from, std::uint64_t to) { batch_.look(*stream_.tiles, from, to - from); }
  Way chosen(std::uint64_t from, std::uint64_t to) const { return choose(file_, writes_, batch_, to - from).way; }

  /// Stream bytes [from, to).
  Status part(std::uint64_t from, std::uint64_t to, std::uint64_t* moved) {
    for (bool ended = false; from < to && !ended;) {
      look(from, to);
      std::uint64_t done = 0;
      Status step;
      if (!ascends_ || chosen(from, to) == Way::kList) {
        batch_.place(memory_ + (from - stream_.from));
        step = move_pieces(file_, writes_, batch_.pieces.data(), batch_.used, &done);
        ended = !writes_ && done < batch_.bytes;
      } else {
        step = writes_ ? windowed_.write(batch_, &done) : windowed_.read(batch_, &done, &ended);
      }
      from += done;
      *moved += done;
      ASHLAR_TRY(step);
    }
    return {};
  }

  OpenFile& file_;
  const bool writes_;
  const Stream& stream_;
  std::byte* const memory_;
  const bool ascends_;
  Windowed windowed_;
  Batch batch_;
};

/// Apart from the short path: batches take room on the stack.
[[gnu::noinline]] Status move_apart(OpenFile& file, bool writes, const Stream& stream, std::byte* memory,
                                    std::uint64_t* moved) {
  return Apart(file, writes, stream, memory).all(moved);
}

}  // namespace

[[gnu::noinline]] bool may_wish(const OpenFile& file, bool writes, const Stream& stream, MapWish* wish) {
  Batch first;
  return may_wish_first(file, writes, stream, first, wish);
}

/// Of bytes that do not lie in a row. Apart from the short path, as move_apart.
[[gnu::noinline]] static void record_choice_apart(OpenFile& file, const char* call, bool writes, std::uint64_t at,
                                                  std::uint64_t bytes) {
  Batch batch;
  batch.look(*file.view.tiles, at, bytes);
  Choice choice = choose(file, writes, batch, bytes);
  if (choice.costs.mapped < cost::kForbidden) {
    const MapWish wish =
        wish_of(file, choice, batch, {.tiles = &*file.view.tiles, .from = at, .to = at + bytes, .buffer = {}});
    if (wish.forced || file.mappings.has(wish.first, wish.end)) choice.way = Way::kMapped;
  }
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
