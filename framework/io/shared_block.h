#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/io/facts.h"
#include "framework/io/shared_pointer.h"
#include "framework/memory/heap.h"

namespace ashlar {
class Comm;
}
namespace ashlar::io {

class OpenFile;

/// A place in a process's heap, for the others of the node.
struct Card {
  memory::HeapHandle heap;
  std::uint64_t address = 0;  // 0: there is none
};

/// What a process tells in an agreement (agree.h): its failure, and its values with their complements.
struct AgreedValues {
  static constexpr std::size_t kMost = 16;
  using Values = std::array<std::int64_t, 1 + 2 * kMost>;
  std::uint64_t number = 0;  // of the collective call
  std::size_t used = 0;
  Values values = {};
};

/// What one process tells the others of the file. Only that process stores here, except where said.
struct alignas(kCacheLine) RankSlot {
  // Its range in the short path of RangeLock.
  std::atomic<std::uint32_t> range_state{0};
  std::atomic<std::uint64_t> range_first{0}, range_end{0};

  // Collective accesses: how far it has got with the one of this number, and what belongs to each step.
  alignas(kCacheLine) std::atomic<std::uint64_t> arrived{0};  // `facts` are those of the collective
  std::atomic<std::uint64_t> ready{0};                        // `windows` too
  std::atomic<std::uint64_t> mapped{0};                       // `windows_mapped` too
  std::atomic<std::uint64_t> written{0};                      // its data is in the file, where that is read again
  std::atomic<std::uint64_t> over{0};                         // `outcome` too
  std::atomic<std::uint32_t> asleep{0};                       // waits of it that may sleep: they are to be woken
  std::uint32_t windows_mapped = 0;
  std::int32_t outcome = 0;  // an error class
  Facts facts;
  Card windows;
  AgreedValues agreed[2];  // of calls with an even and an odd number

  // Windows of this process as an aggregator, counted from 0 in each collective.
  alignas(kCacheLine) std::atomic<std::uint64_t> turned{0};  // write: may be filled; read: have been filled
  std::uint64_t valid[2] = {0, 0};                           // bytes that a read has put in each of the two
  alignas(kCacheLine) std::atomic<std::uint64_t> visits[2];  // of processes that are done with it: stored by them
};

/// A range of the file that a process holds, in the long path of RangeLock.
struct HeldRange {
  std::uint64_t first = 0, end = 0;  // empty: the entry is free
  bool exclusive = false;
};

/// In memory that all processes of a file map: in the heap of rank 0. A slot for each rank follows.
struct SharedBlock {
  std::atomic<std::int64_t> pointers[SharedPointers::kViews];
  /// A mutex: 0 free, 1 held, 2 held and awaited. For the order of accesses to a file without offsets.
  alignas(kCacheLine) std::atomic<std::uint32_t> lock;

  // --- RangeLock
  static constexpr unsigned kHeld = 62;
  alignas(kCacheLine) std::atomic<std::uint32_t> exclusives;  // ranges that are held, or wanted, exclusively
  std::atomic<std::uint32_t> changes;                         // futex: counts ranges that were given up
  std::atomic<std::uint32_t> sleeping;                        // processes that wait for a change asleep
  std::atomic<std::uint32_t> table_lock;                      // as `lock`; guards `held`
  HeldRange held[kHeld];

  // --- collective accesses
  alignas(kCacheLine) std::atomic<std::uint32_t> sleepers;  // the sum of RankSlot::asleep
  std::atomic<std::uint64_t> turn;  // an access in the order of the ranks: its number, and how many have arrived at it

  RankSlot& slot(Rank rank) { return reinterpret_cast<RankSlot*>(this + 1)[rank]; }
  static std::size_t bytes(int ranks) {
    return sizeof(SharedBlock) + static_cast<std::size_t>(ranks) * sizeof(RankSlot);
  }
};

/// Makes the block of a file that is being opened, on rank 0, and maps it on the others; collective over its processes,
/// whose messages are those of the communicator that it is opened on. nullptr: this process has failed before. Where it
/// cannot be had, OpenFile::shared is nullptr and why_not_shared says why.
Status make_block(OpenFile* file, Comm& comm);
/// One of the processes has none.
void give_up_block(OpenFile& file);
/// All processes are done with it.
void drop_block(OpenFile& file);

/// Holds a mutex of the block, nullptr: none. A holder makes system calls, so that others wait asleep.
class BlockLock {
 public:
  explicit BlockLock(std::atomic<std::uint32_t>* word);
  ~BlockLock();
  BlockLock(const BlockLock&) = delete;
  BlockLock& operator=(const BlockLock&) = delete;

 private:
  std::atomic<std::uint32_t>* const word_;
};

}  // namespace ashlar::io
