#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "framework/base/types.h"
#include "framework/rma/guard.h"

namespace ashlar::rma::shm {

/// The block of memory through which the processes of a window synchronize. It lies in the heap of rank 0, and all of
/// them map it. All zero at first.
///
///   header | a lock for each target | an update line for each target | an origin line for each origin
///          | a rank line for each | PSCW words for each pair

/// What a process may sleep for. Only processes that sleep for what has changed are woken.
enum class Sleep : std::uint8_t { kBarrier, kLock, kLockAll, kPair };
inline constexpr std::size_t kSleeps = 4;

struct alignas(kCacheLine) ControlHeader {
  std::atomic<std::uint32_t> arrived;                        // of the barrier that is going on
  std::atomic<std::uint32_t> generation;                     // barriers that are over
  alignas(kCacheLine) std::atomic<std::uint32_t> exclusive;  // processes that hold an exclusive lock, or are about to
  std::atomic<std::uint32_t> lock_alls;                      // processes in an epoch of lock_all, or trying
  std::atomic<std::uint32_t> lock_alls_waiting;
  alignas(kCacheLine) std::atomic<std::uint32_t> sleepers[kSleeps];  // processes that have asked to be woken
  std::atomic<std::uint32_t> left;  // processes, other than rank 0, that do not touch the block any more
};

/// The lock of one target: tickets, served in their order. Readers that follow each other hold it together.
struct alignas(kCacheLine) LockLine {
  std::atomic<std::uint32_t> tickets;   // given out
  std::atomic<std::uint32_t> readers;   // the ticket up to which readers may enter
  std::atomic<std::uint32_t> writers;   // the ticket that may enter as a writer: all before it are done
  std::atomic<std::uint32_t> holder;    // rank + 1 of the writer, for reports
  std::atomic<std::uint32_t> sleepers;  // processes that have asked to be woken for this lock
  std::atomic<std::uint32_t> guests;    // processes that share it without a ticket
};

/// What one rank tells the others.
struct alignas(kCacheLine) RankLine {
  std::atomic<std::uint32_t> asleep[kSleeps];  // threads that ask to be woken when what they wait for may have changed
  std::atomic<std::uint32_t> version;          // of `regions`: odd while they change
  std::atomic<std::uint64_t> regions;          // address, in its heap, of what is attached (dynamic.cc); 0: none
  std::atomic<std::uint64_t> region_count;
};

/// One word for each direction of a pair (target, origin), each with one writer: how often the target has posted to the
/// origin, and how often the origin has completed an epoch to the target.
struct PairWords {
  std::atomic<std::uint32_t> posted;
  std::atomic<std::uint32_t> completed;
};

/// A process's view of the block.
class Control {
 public:
  Control() = default;
  Control(std::byte* memory, std::uint32_t ranks) : memory_(memory), ranks_(ranks) {}
  static std::size_t bytes(std::uint32_t ranks) {
    return at(ranks, 4) + std::size_t{ranks} * ranks * sizeof(PairWords);
  }

  explicit operator bool() const { return memory_ != nullptr; }
  std::uint32_t ranks() const { return ranks_; }
  ControlHeader& header() const { return *reinterpret_cast<ControlHeader*>(memory_); }
  LockLine& lock(Rank target) const { return line<LockLine>(0, target); }
  UpdateLine& update(Rank target) const { return line<UpdateLine>(1, target); }
  OriginLine* origins() const { return &line<OriginLine>(2, 0); }
  RankLine& rank(Rank of) const { return line<RankLine>(3, of); }
  PairWords& pair(Rank target, Rank origin) const {
    return reinterpret_cast<PairWords*>(
        memory_ + at(ranks_, 4))[static_cast<std::size_t>(target) * ranks_ + static_cast<std::size_t>(origin)];
  }

 private:
  /// Where the n-th array of lines begins.
  static std::size_t at(std::uint32_t ranks, std::size_t n) { return sizeof(ControlHeader) + n * ranks * kCacheLine; }
  template <class Line>
  Line& line(std::size_t array, Rank rank) const {
    static_assert(sizeof(Line) == kCacheLine);
    return reinterpret_cast<Line*>(memory_ + at(ranks_, array))[rank];
  }

  std::byte* memory_ = nullptr;
  std::uint32_t ranks_ = 0;
};

}  // namespace ashlar::rma::shm
