#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/base/status.h"
#include "framework/memory/backing.h"
#include "framework/memory/blocks.h"
#include "framework/memory/headroom.h"
#include "framework/memory/params.h"
#include "framework/memory/small_blocks.h"

namespace ashlar::memory {

/// Where in a heap blocks lie, and which pages have memory. Blocks of kSmall bytes and more are pages of their own; the
/// others lie in chunks of claimed pages. Not for several threads. May throw std::bad_alloc, and has changed nothing
/// that matters then.
class Space {
 public:
  static constexpr std::uint64_t kSmall = 32 * 1024;        // bytes
  static constexpr std::uint64_t kDiscarded = 1024 * 1024;  // from here on pages are zeroed by giving them back

  /// Makes the file. Fails with MPI_ERR_NO_MEM, as the next does.
  Status open(std::uint64_t reserve);

  /// `*fresh`: the block is all zero.
  Status place(std::uint64_t bytes, std::uint64_t alignment, const Config& config, Range* out, bool* fresh);
  /// Makes the first `bytes` of a placed block zero.
  void zero(std::uint64_t begin, std::uint64_t bytes);
  /// The bytes of the block that began there; 0: there was none.
  std::uint64_t release(std::uint64_t begin, const Config& config);
  /// The bytes of the block that begins there; 0: there is none.
  std::uint64_t bytes_at(std::uint64_t begin) const;
  /// The taken pages in which `address` lies, a block or a chunk of small ones: their memory stays until they are given
  /// back. No others have or had the same number.
  Range pages_around(std::uint64_t address, std::uint64_t* serial) const { return pages_.around(address, serial); }

  const Backing& backing() const { return backing_; }
  /// Bytes of free pages that may have memory.
  std::uint64_t kept() const { return pages_.free_bytes(Pages::kSome) + pages_.free_bytes(Pages::kClaimed); }

 private:
  bool is_small(std::uint64_t bytes, std::uint64_t alignment) const { return bytes < kSmall && alignment <= kPage; }
  Status place_small(std::uint64_t bytes, std::uint64_t alignment, Range* out);
  /// Whole pages.
  Status place_pages(std::uint64_t bytes, std::uint64_t alignment, bool claimed, Range* out, bool* fresh);
  bool take_pages(std::uint64_t bytes, std::uint64_t alignment, bool claimed, Range* out, bool* fresh);
  /// Makes sure that the pages have memory, or will have it.
  Status back(Range range, bool claimed);
  /// `free`: a free part of a chunk. Gives the chunk back if it is all of it, but for one.
  void give_back_chunk(Range free);
  /// Gives freed pages back to the system, of the largest blocks first, until not more than `most` bytes are kept.
  void discard_kept(std::uint64_t most);
  /// The last `bytes` of a free block, rounded up to pages, as a block of their own.
  Range end_of(Range free, std::uint64_t bytes);

  Backing backing_;
  Headroom headroom_;
  Blocks pages_{kPage};
  SmallBlocks small_;
  bool discards_ = true;  // until the system refuses
};

}  // namespace ashlar::memory
