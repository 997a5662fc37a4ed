#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "framework/memory/blocks.h"

namespace ashlar::memory {

/// Which parts of some chunks of memory are in use, in two bits for each unit of a chunk: thousands of windows have a
/// few small blocks each, whose entries in a tree would be larger than they. A block lies in one chunk; the chunk is
/// one of those whose longest free part fits best, the block the first part of it that fits. take() and give() allocate
/// nothing, and take O(log n) for n chunks. It never looks at the memory itself. Not for several threads.
class SmallBlocks {
 public:
  static constexpr std::uint64_t kUnit = 64;          // bytes; a cache line: blocks do not share one
  static constexpr std::uint64_t kChunk = 64 * 1024;  // bytes; chunks begin at pages

  /// A chunk begins there, and is free. May throw std::bad_alloc, and has changed nothing then.
  void add(std::uint64_t begin);
  /// The chunk, all of which is free, is not there any more.
  void remove(std::uint64_t begin);

  /// Takes `bytes` > 0, rounded up to the unit, at a multiple of `alignment`, a power of two up to a page. False: there
  /// is no room.
  bool take(std::uint64_t bytes, std::uint64_t alignment, Range* out);
  /// Frees what take() returned. The part of its chunk that is free around it now; of 0 bytes: nothing was taken there.
  Range give(std::uint64_t begin);

  /// The block that was taken at `begin`; of 0 bytes: there is none.
  Range taken(std::uint64_t begin) const;
  bool is_chunk(std::uint64_t begin) const { return chunks_.count(begin) != 0; }
  std::uint64_t free_bytes() const { return free_bytes_; }

 private:
  static constexpr std::uint32_t kUnits = kChunk / kUnit;  // of a chunk
  /// One bit for each unit.
  class Bits {
   public:
    bool test(std::uint32_t at) const { return (words_[at / 64] >> (at % 64) & 1) != 0; }
    void assign(std::uint32_t begin, std::uint32_t end, bool value);
    /// The first unit from `from` on whose bit has this value, kUnits if there is none.
    std::uint32_t find(std::uint32_t from, bool value) const;
    /// The unit behind the last one before `from` whose bit has this value, 0 if there is none.
    std::uint32_t behind_last(std::uint32_t from, bool value) const;

   private:
    std::array<std::uint64_t, kUnits / 64> words_{};
  };
  struct Chunk {
    Bits used;
    Bits last;                       // units that are the last of a block
    std::uint32_t longest = kUnits;  // units of the longest part that is free
  };
  using Chunks = std::map<std::uint64_t, Chunk>;
  using ByLongest = std::set<std::pair<std::uint32_t, std::uint64_t>>;  // `longest`, where the chunk begins

  /// The first unit of a free part for a block, kUnits if there is none.
  static std::uint32_t place_in(const Chunk& chunk, std::uint32_t units, std::uint32_t alignment);
  /// Takes up a chunk whose bits have changed at its place among the others.
  void sort_in(std::uint64_t begin, Chunk& chunk);
  /// The chunk of a block that was taken at `begin`, or chunks_.end().
  Chunks::const_iterator chunk_of(std::uint64_t begin) const;
  /// The unit behind the block that begins at `unit`.
  static std::uint32_t end_of_block(const Chunk& chunk, std::uint32_t unit) { return chunk.last.find(unit, true) + 1; }
  static std::uint32_t unit_of(std::uint64_t begin, std::uint64_t chunk) {
    return static_cast<std::uint32_t>((begin - chunk) / kUnit);
  }

  Chunks chunks_;  // by address
  ByLongest by_longest_;
  std::uint64_t free_bytes_ = 0;
};

}  // namespace ashlar::memory
