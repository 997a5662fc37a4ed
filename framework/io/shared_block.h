#pragma once
#include <atomic>
#include <cstdint>

#include "framework/base/status.h"
#include "framework/base/types.h"

namespace ashlar::io {

class OpenFile;

/// In memory that all processes of a file map: in the heap of rank 0.
struct SharedBlock {
  /// The shared file pointer, in etypes, of views with an even and an odd number: the one that a new view begins with
  /// is zero already when the first process has it.
  std::atomic<std::int64_t> pointers[2];
  /// A mutex: 0 free, 1 held, 2 held and awaited.
  alignas(kCacheLine) std::atomic<std::uint32_t> lock;
};

/// Makes the block of a file that is being opened; collective over its processes. Without one the calls that need it
/// fail, and say why: OpenFile::why_not_shared.
Status make_block(OpenFile& file);
/// All processes are done with it.
void drop_block(OpenFile& file);

/// The shared pointer of the present view.
inline std::atomic<std::int64_t>& shared_pointer(SharedBlock& block, std::uint32_t generation) {
  return block.pointers[generation % 2];
}

/// Holds the block's mutex: atomic mode, and the order of accesses to a file without offsets. A holder makes system
/// calls, so that others wait asleep.
class BlockLock {
 public:
  /// nullptr: does nothing.
  explicit BlockLock(SharedBlock* block);
  ~BlockLock();
  BlockLock(const BlockLock&) = delete;
  BlockLock& operator=(const BlockLock&) = delete;

 private:
  SharedBlock* const block_;
};

}  // namespace ashlar::io
