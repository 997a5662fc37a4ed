#include "framework/datatype/spans.h"

#include <algorithm>
#include <limits>

#include "framework/datatype/layout.h"
#include "framework/datatype/runs.h"

namespace ashlar::datatype {
namespace {

/// Fills an array of spans, joining neighbours; false when the wanted bytes are listed, or the next does not fit.
class Lister {
 public:
  Lister(Span* out, std::size_t room, std::uint64_t wanted) : out_(out), room_(room), wanted_(wanted) {}
  std::size_t used() const { return used_; }

  bool operator()(std::int64_t at, std::size_t bytes) {
    const std::uint64_t taken = std::min<std::uint64_t>(bytes, wanted_);
    if (used_ > 0 && out_[used_ - 1].end() == at) {
      out_[used_ - 1].bytes += taken;
    } else {
      if (used_ == room_) return false;
      out_[used_++] = {.offset = at, .bytes = taken};
    }
    wanted_ -= taken;
    return wanted_ > 0;
  }

 private:
  Span* out_;
  std::size_t room_;
  std::uint64_t wanted_;
  std::size_t used_ = 0;
};

/// Packed bytes of `l`, whose first packed byte is at offset 0, below `offset`. Its pieces ascend.
std::uint64_t bytes_below(const Layout& l, std::int64_t offset);

/// The last of `count` parts at rising displacements that begins below `offset`, or -1.
template <class At>
std::ptrdiff_t last_below(std::size_t count, std::int64_t offset, At at) {
  std::size_t low = 0, high = count;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (at(middle) < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return static_cast<std::ptrdiff_t>(low) - 1;
}

std::uint64_t within(std::int64_t offset, std::uint64_t bytes) {
  return offset <= 0 ? 0 : std::min(static_cast<std::uint64_t>(offset), bytes);
}

std::uint64_t bytes_below(const Layout& l, std::int64_t offset) {
  switch (l.form) {
    case Layout::Form::kEmpty:
      return 0;
    case Layout::Form::kRun:
      return within(offset, l.bytes);
    case Layout::Form::kStrided: {
      if (offset <= 0) return 0;
      const auto part = std::min<std::uint64_t>(static_cast<std::uint64_t>((offset - 1) / l.stride), l.count - 1);
      return part * l.child->bytes + bytes_below(*l.child, offset - static_cast<std::int64_t>(part) * l.stride);
    }
    case Layout::Form::kIndexed:
    case Layout::Form::kBlocks:
    case Layout::Form::kSequence: {
      const std::ptrdiff_t part = last_below(l.count, offset, [&](std::size_t i) { return l.displacement(i); });
      if (part < 0) return 0;
      const auto i = static_cast<std::size_t>(part);
      const std::int64_t into = offset - l.displacement(i);
      if (l.form == Layout::Form::kIndexed) return i * l.child->bytes + bytes_below(*l.child, into);
      if (l.form == Layout::Form::kSequence) return l.start(i) + bytes_below(*l.children[i], into);
      return l.start(i) + within(into, l.start(i + 1) - l.start(i));
    }
  }
  return 0;
}

/// What is known of the pieces of a layout whose first packed byte is at offset 0.
struct Reach {
  std::int64_t last = 0;  // where the last piece begins
  std::int64_t end = 0;   // of the last piece
  Ascent ascent = Ascent::kDisjoint;
};

Ascent worse(Ascent a, Ascent b) { return std::max(a, b); }

/// How a part that begins at `begin` lies behind one that ends as `before`.
Ascent behind(const Reach& before, std::int64_t begin) {
  if (begin >= before.end) return Ascent::kDisjoint;
  return begin >= before.last ? Ascent::kOverlapping : Ascent::kNone;
}

Reach reach_of(const Layout& l);

/// Of a layout with a table, by a look at all its entries.
Reach reach_of_table(const Layout& l) {
  Reach all;
  Reach part = l.form == Layout::Form::kIndexed ? reach_of(*l.child) : Reach{};
  for (std::size_t i = 0; i < l.count; ++i) {
    if (l.form == Layout::Form::kSequence) part = reach_of(*l.children[i]);
    if (l.form == Layout::Form::kBlocks) part.end = static_cast<std::int64_t>(l.start(i + 1) - l.start(i));
    const std::int64_t at = l.displacement(i);
    const Ascent here = worse(part.ascent, i == 0 ? Ascent::kDisjoint : behind(all, at));
    all = {.last = at + part.last, .end = at + part.end, .ascent = worse(all.ascent, here)};
  }
  return all;
}

// A program sets the same view again and again, and a table may have millions of entries. Two threads that both find
// nothing known store the same.
Reach known_reach_of_table(const Layout& l) {
  if (const std::uint8_t known = l.known.ascent.load(std::memory_order_acquire); known != 0)
    return {.last = l.known.last.load(std::memory_order_relaxed),
            .end = l.known.end.load(std::memory_order_relaxed),
            .ascent = static_cast<Ascent>(known - 1)};
  const Reach found = reach_of_table(l);
  l.known.last.store(found.last, std::memory_order_relaxed);
  l.known.end.store(found.end, std::memory_order_relaxed);
  l.known.ascent.store(static_cast<std::uint8_t>(static_cast<std::uint8_t>(found.ascent) + 1),
                       std::memory_order_release);
  return found;
}

Reach reach_of(const Layout& l) {
  switch (l.form) {
    case Layout::Form::kEmpty:
      return {};
    case Layout::Form::kRun:
      return {.last = 0, .end = static_cast<std::int64_t>(l.bytes)};
    case Layout::Form::kStrided: {
      const Reach one = reach_of(*l.child);
      const std::int64_t by = static_cast<std::int64_t>(l.count - 1) * l.stride;
      return {.last = by + one.last, .end = by + one.end, .ascent = worse(one.ascent, behind(one, l.stride))};
    }
    case Layout::Form::kIndexed:
    case Layout::Form::kBlocks:
    case Layout::Form::kSequence:
      break;
  }
  return known_reach_of_table(l);
}

}  // namespace

Tiles::Tiles(std::int64_t begin, const Datatype& type)
    : layout_(&type.layout()), first_(begin + type.origin()), extent_(type.extent()) {
  if (ascent_of_tiles(type) == Ascent::kDisjoint)
    ascending_ = std::numeric_limits<std::uint64_t>::max();
  else
    ascending_ = ascent_of(type) == Ascent::kDisjoint ? layout_->bytes : 0;
}

std::size_t Tiles::spans(std::uint64_t from, std::uint64_t bytes, std::size_t most, Span* out) const {
  if (bytes == 0 || most == 0) return 0;
  if (contiguous()) {
    out[0] = {.offset = first_ + static_cast<std::int64_t>(from), .bytes = bytes};
    return 1;
  }
  if (layout_->form == Layout::Form::kRun) return list_runs(from, bytes, most, out);
  Lister lister(out, most, bytes);
  std::uint64_t tile = from / layout_->bytes;
  std::size_t into = from % layout_->bytes;
  while (each_run(*layout_, first_ + static_cast<std::int64_t>(tile) * extent_, into, lister)) {
    ++tile;
    into = 0;
  }
  return lister.used();
}

// No two of them are adjacent: else all would be one.
std::size_t Tiles::list_runs(std::uint64_t from, std::uint64_t bytes, std::size_t most, Span* out) const {
  const std::uint64_t each = layout_->bytes;
  std::int64_t at = first_ + static_cast<std::int64_t>(from / each) * extent_;
  std::uint64_t into = from % each;
  for (std::size_t used = 0;; at += extent_, into = 0) {
    const std::uint64_t now = std::min(each - into, bytes);
    out[used++] = {.offset = at + static_cast<std::int64_t>(into), .bytes = now};
    bytes -= now;
    if (bytes == 0 || used == most) return used;
  }
}

// To find a row costs some divisions, which a few runs are not worth.
Row Tiles::row(std::uint64_t from) const {
  constexpr std::size_t kLeastRuns = 8;
  const Layout* l = layout_;
  const std::uint64_t tile = from / l->bytes;
  std::uint64_t into = from % l->bytes;
  std::int64_t begin = first_ + static_cast<std::int64_t>(tile) * extent_;
  if (l->form == Layout::Form::kRun)
    return {.offset = begin,
            .bytes = l->bytes,
            .stride = extent_,
            .count = into == 0 ? std::numeric_limits<std::uint64_t>::max() : 0};
  while (l->form == Layout::Form::kStrided) {
    const std::uint64_t each = l->child->bytes, part = into / each;
    begin += static_cast<std::int64_t>(part) * l->stride;
    into %= each;
    if (l->child->form == Layout::Form::kRun) {
      if (l->count < kLeastRuns) return {};
      return {.offset = begin, .bytes = each, .stride = l->stride, .count = into == 0 ? l->count - part : 0};
    }
    l = l->child.get();
  }
  return {};
}

std::uint64_t Tiles::below(std::int64_t offset) const {
  return ascending_ > layout_->bytes ? end_below(offset) : bytes_below(*layout_, offset - first_);
}

std::uint64_t Tiles::end_below(std::int64_t offset) const {
  if (offset <= first_) return 0;
  const std::int64_t into = offset - first_;
  const std::int64_t tile = extent_ > 0 ? (into - 1) / extent_ : 0;
  return static_cast<std::uint64_t>(tile) * layout_->bytes + bytes_below(*layout_, into - tile * extent_);
}

bool Tiles::contiguous() const {
  return layout_->form == Layout::Form::kRun && static_cast<std::int64_t>(layout_->bytes) == extent_;
}

Ascent ascent_of(const Datatype& type) { return type.size() == 0 ? Ascent::kDisjoint : reach_of(type.layout()).ascent; }

Ascent ascent_of_tiles(const Datatype& type) {
  if (type.size() == 0) return Ascent::kDisjoint;
  const Reach one = reach_of(type.layout());
  return worse(one.ascent, behind(one, type.extent()));
}

}  // namespace ashlar::datatype
