#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace ashlar::memory {

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t end() const { return begin + bytes; }
};

/// What stands behind the pages of a block. Free blocks of different kinds stay apart.
enum class Pages : std::uint8_t {
  kNone,     // never touched since they were made or given back: no memory, and all zero
  kSome,     // some may have memory; any contents
  kClaimed,  // all have memory; any contents
  kKinds
};

/// Which parts of an address range are in use: best fit, of equal ones the lowest address, neighbours that are free and
/// of one kind are one block. Every call takes O(log n). It never looks at the memory itself. Not for several threads.
/// Only add(), cut_free() and take() allocate: they throw std::bad_alloc and have changed nothing then.
class Blocks {
 public:
  /// All blocks begin at multiples of `unit`, a power of two.
  explicit Blocks(std::uint64_t unit) : unit_(unit) {}
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  /// `range` is there, too, and free.
  void add(Range range, Pages pages);
  /// Takes `bytes` > 0, rounded up to the unit, at a multiple of `alignment`, from a free block of the kind `pages`.
  /// False: there is none.
  bool take(std::uint64_t bytes, std::uint64_t alignment, Pages pages, Range* out);
  /// Frees what take() returned. The free block in which it lies now; of 0 bytes: nothing was taken at `begin`.
  Range give(std::uint64_t begin);
  /// The block that was taken at `begin` is of this kind from now on.
  void change_taken(std::uint64_t begin, Pages pages);
  /// The same for the free block that begins there, which then joins its neighbours of that kind.
  void change_free(std::uint64_t begin, Pages pages);
  /// The free block that begins at `begin` becomes two of its kind, the second at `at`: for a change_free() of one of
  /// them, which joins what is of one kind.
  void cut_free(std::uint64_t begin, std::uint64_t at);

  /// The block that was taken at `begin`; of 0 bytes: there is none.
  Range taken(std::uint64_t begin) const;
  /// The taken block in which `address` lies, and the number that take() gave to it and gives to no other; of 0 bytes:
  /// there is none.
  Range around(std::uint64_t address, std::uint64_t* serial) const;
  /// The kind of the block, taken or free, that begins there.
  Pages pages(std::uint64_t begin) const { return by_address_.at(begin).pages; }
  /// The largest free block of the kind; of 0 bytes: there is none.
  Range largest(Pages pages) const;
  /// Bytes in free blocks of the kind.
  std::uint64_t free_bytes(Pages pages) const { return free_bytes_[index(pages)]; }

 private:
  struct BySize {
    bool operator()(const Range& a, const Range& b) const {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.begin < b.begin;
    }
  };
  using FreeSet = std::set<Range, BySize>;
  struct Block {
    std::uint64_t bytes = 0;
    Pages pages = Pages::kNone;
    bool free = false;
    std::uint64_t serial = 0;     // of a taken block
    FreeSet::node_type parked{};  // of a taken block: so that freeing it allocates nothing
  };
  using Map = std::map<std::uint64_t, Block>;

  static std::size_t index(Pages pages) { return static_cast<std::size_t>(pages); }
  static Range range_of(Map::const_iterator at) { return {.begin = at->first, .bytes = at->second.bytes}; }
  std::uint64_t round_up(std::uint64_t bytes) const { return (bytes + unit_ - 1) & ~(unit_ - 1); }
  FreeSet& free_set(const Block& block) { return free_[index(block.pages)]; }
  /// Takes a free block out of the set of its kind, and puts it in; between the two it may change.
  void detach(Map::iterator at);
  Map::iterator attach(Map::iterator at);
  bool joins(Map::iterator left, Map::iterator right) const;

  const std::uint64_t unit_;
  Map by_address_;  // all blocks
  std::uint64_t last_serial_ = 0;
  std::array<FreeSet, static_cast<std::size_t>(Pages::kKinds)> free_;
  std::array<std::uint64_t, static_cast<std::size_t>(Pages::kKinds)> free_bytes_{};
};

}  // namespace ashlar::memory
