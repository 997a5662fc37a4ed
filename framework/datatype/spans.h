#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/datatype/datatype.h"

/// What a datatype says of a file: items of it follow each other without end, from an offset on, and the packed stream
/// of their data is what a process sees of the file (MPI-5.0, 14.3). Nothing is ever listed as a whole.
namespace ashlar::datatype {

/// A contiguous piece of a file.
struct Span {
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;
  std::int64_t end() const { return offset + static_cast<std::int64_t>(bytes); }
};

/// Equally long runs of the packed stream, equally far from each other in the file.
struct Row {
  std::int64_t offset = 0;  // of the first
  std::uint64_t bytes = 0;  // of each; 0: the items have no such rows
  std::int64_t stride = 0;  // from one to the next
  std::uint64_t count = 0;
};

/// In which order the pieces of a datatype's items lie.
enum class Ascent : unsigned char {
  kDisjoint,     // each begins where the one before it ends, or behind
  kOverlapping,  // each begins where the one before it begins, or behind
  kNone
};

/// Of one item.
Ascent ascent_of(const Datatype& type);
/// Of items one after the other.
Ascent ascent_of_tiles(const Datatype& type);

/// Items of a committed datatype one after the other, the first at offset `begin`. Any thread.
class Tiles {
 public:
  /// `type` has data; it lives as long as the object.
  Tiles(std::int64_t begin, const Datatype& type);

  /// Lists the pieces of the packed stream from byte `from` on, as far as `bytes` bytes and `most` entries reach, in
  /// packed order, adjacent ones joined. Returns how many entries of `out` it filled: none only for no bytes.
  std::size_t spans(std::uint64_t from, std::uint64_t bytes, std::size_t most, Span* out) const;

  /// The row that begins with byte `from` of the packed stream, without a look at each run of it; of no runs where
  /// `from` lies within one. For items that are a run, or many runs at a stride, or these at strides.
  Row row(std::uint64_t from) const;

  /// How many bytes of the packed stream, from its first on, lie in pieces that ascend (Ascent::kDisjoint): all of
  /// them, those of one item where the next one begins among them, or none.
  std::uint64_t ascending() const { return ascending_; }

  /// How many of these lie below `offset`. O(depth log parts).
  std::uint64_t below(std::int64_t offset) const;

  /// How many bytes the packed stream has up to its last one below `offset`; of the first item alone where the others
  /// do not lie behind it. The pieces of an item ascend or overlap. O(depth log parts).
  std::uint64_t end_below(std::int64_t offset) const;

  /// Everything from the first byte on, without gaps.
  bool contiguous() const;

 private:
  /// spans() of items that are one run of bytes each.
  std::size_t list_runs(std::uint64_t from, std::uint64_t bytes, std::size_t most, Span* out) const;

  const Layout* layout_;
  std::int64_t first_;   // offset of the first packed byte
  std::int64_t extent_;  // from one item to the next
  std::uint64_t ascending_;
};

}  // namespace ashlar::datatype
