#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "framework/base/lane_lock.h"
#include "framework/base/types.h"
#include "framework/rma/card.h"
#include "framework/rma/guard.h"

namespace ashlar::rma::shm {

/// The block of memory through which the processes of a window synchronize. It lies in the heap of rank 0, and all of
/// them map it. All zero at first.
///
///   header | a line for each target: lock and updates | a line for each process
///          | PSCW words, a row of lines for each | an area for each

/// What a process may sleep for. Only processes that sleep for what has changed are woken.
enum class Sleep : std::uint8_t { kBarrier, kLock, kLockAll, kPair };
inline constexpr std::size_t kSleeps = 4;

/// Parameters rma.shm.lock_again and rma.shm.lock_bias; those of rank 0 hold for the window.
struct LockLimits {
  std::uint32_t again = 0;            // times that a writer may come back, past those that wait
  std::uint32_t bias_after = kNever;  // shared locks in a row from which on readers go without a ticket
  static constexpr std::uint32_t kNever = UINT32_MAX;
};

struct alignas(kCacheLine) ControlHeader {
  std::atomic<std::uint32_t> central;                        // which barrier it is; constant: barrier.cc
  std::atomic<std::uint32_t> fenced;                         // some process cannot be fenced by others
  std::atomic<std::uint32_t> arrived;                        // of the central barrier that is going on
  std::atomic<std::uint32_t> generation;                     // central barriers that are over
  LockLimits limits;                                         // constant
  alignas(kCacheLine) std::atomic<std::uint32_t> exclusive;  // locks that a writer holds, or is about to, or has left
  std::atomic<std::uint32_t> lock_alls;                      // processes in an epoch of lock_all, or trying
  std::atomic<std::uint32_t> lock_alls_waiting;
  alignas(kCacheLine) std::atomic<std::uint32_t> sleepers[kSleeps];  // processes that have asked to be woken
  std::atomic<std::uint32_t> left;  // processes, other than rank 0, that do not touch the block any more

  std::atomic<std::uint32_t>& sleepers_for(Sleep what) { return sleepers[static_cast<std::size_t>(what)]; }
  const std::atomic<std::uint32_t>& sleepers_for(Sleep what) const { return sleepers[static_cast<std::size_t>(what)]; }
};

/// The lock of one target: tickets, served in their order. Readers that follow each other hold it together. All of it
/// in one line: writers that follow each other move that line, and no other.
struct LockLine {
  std::atomic<std::uint32_t> tickets;         // given out
  std::atomic<std::uint32_t> readers;         // the ticket up to which readers may enter
  std::atomic<std::uint32_t> writers;         // the ticket that may enter as a writer: all before it are done
  std::atomic<std::uint32_t> holder;          // rank + 1 of the writer that is inside; 0, or kLeft
  std::atomic<std::uint32_t> sleepers;        // processes that have asked to be woken for this lock
  std::atomic<std::uint32_t> guests;          // processes that share it without a ticket
  std::atomic<std::uint16_t> guests_waiting;  // processes
  std::atomic<std::uint16_t> again;           // how often the writer has come back past those that wait
  std::atomic<std::uint16_t> comes_back;      // whether the last one that could has
  std::atomic<std::uint16_t> shared_in_row;   // tickets of readers since the last writer: at some number, the bias

  /// No writer is inside, but the lock is counted in ControlHeader::exclusive as if one were. With rank + 1: that rank,
  /// which held the lock last, may take it again by its ticket, which is still the one that is served, until another
  /// process closes the lock.
  static constexpr std::uint32_t kLeft = 1u << 31;

  /// By a writer, or on its behalf: the ticket behind its own is served. A reader that has it may enter and leave again
  /// before `writers` is counted up here, so that is added and not stored.
  void serve_next() {
    readers.store(writers.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    writers.fetch_add(1, std::memory_order_acq_rel);
  }

  /// The writer that is inside, by what `holder` says; -1: none.
  static Rank inside(std::uint32_t holder) { return (holder & kLeft) != 0 ? -1 : static_cast<Rank>(holder) - 1; }
};
static_assert(sizeof(LockLine) == kCacheLine / 2);

/// What others find at a target: its lock, and who updates its memory. The lock and the updates share a line: a process
/// that takes the lock has the gate with it.
struct alignas(kCacheLine) TargetLine {
  LockLine lock;
  UpdateLine updates;

  /// Where the target takes operations of others (delegate.h): an address in its heap; 0: nowhere.
  std::atomic<std::uint64_t>& mailbox() { return *reinterpret_cast<std::atomic<std::uint64_t>*>(updates.others); }
};
static_assert(sizeof(TargetLine) == kCacheLine);

/// What one rank tells the others; in its OriginLine.
struct RankLine {
  std::atomic<std::uint32_t> asleep[kSleeps];  // threads that ask to be woken when what they wait for may have changed
  std::atomic<std::uint32_t> rounds;           // of barriers that this process has come to
  std::atomic<std::uint32_t> version;          // of `regions`: odd while they change
  std::atomic<std::uint64_t> regions;          // address, in its heap, of what is attached (dynamic.cc); 0: none
  std::atomic<std::uint64_t> region_count;
  std::atomic<std::uint32_t> sharing;  // rank + 1 whose lock this process shares without a ticket (LockLine::biased)
};
static_assert(sizeof(RankLine) <= sizeof(OriginLine::others));

/// What one process tells another: how often it has posted to it, and how often it has completed an epoch to it. All
/// that a process tells lies in lines that it alone writes, so that a pair moves two lines and not one to and fro. A
/// target that has posted waits for the completion before it posts again, so the two never differ by more than one, and
/// four bits of each are enough.
struct PairWord {
  enum Count : unsigned { kPosted = 0, kCompleted = 4 };  // its lowest bit
  static constexpr unsigned kMask = 15, kHalf = 8;
  std::atomic<std::uint8_t> counts;

  unsigned get(Count which, std::memory_order order) const { return (counts.load(order) >> which) & kMask; }
  /// Whether the count has come to `wanted`, or past it.
  bool reached(Count which, unsigned wanted) const {
    return ((get(which, std::memory_order_acquire) - wanted) & kMask) < kHalf;
  }
  /// By the process that tells. Its threads may count posts and completions at the same time.
  void count_up(Count which) {
    std::uint8_t was = counts.load(std::memory_order_relaxed);
    if (!LaneLock::threads_on()) {
      counts.store(next(was, which), std::memory_order_release);
      return;
    }
    while (!counts.compare_exchange_weak(was, next(was, which), std::memory_order_release, std::memory_order_relaxed))
      continue;
  }

 private:
  static std::uint8_t next(unsigned counts, Count which) {
    const unsigned mask = kMask << which;
    return static_cast<std::uint8_t>((counts & ~mask) | ((counts + (1u << which)) & mask));
  }
};

/// A process's view of the block.
class Control {
 public:
  Control() = default;
  Control(std::byte* memory, std::uint32_t ranks) : memory_(memory), ranks_(ranks) {}
  static std::size_t bytes(std::uint32_t ranks) { return areas_at(ranks) + ranks * sizeof(Area); }

  explicit operator bool() const { return memory_ != nullptr; }
  std::uint32_t ranks() const { return ranks_; }
  ControlHeader& header() const { return *reinterpret_cast<ControlHeader*>(memory_); }
  TargetLine& target(Rank rank) const { return at<TargetLine>(sizeof(ControlHeader))[rank]; }
  LockLine& lock(Rank rank) const { return target(rank).lock; }
  OriginLine* origins() const { return at<OriginLine>(origins_at(ranks_)); }
  RankLine& rank(Rank of) const { return *reinterpret_cast<RankLine*>(origins()[of].others); }
  Area* areas() const { return at<Area>(areas_at(ranks_)); }
  PairWord& pair(Rank from, Rank to) const {
    return at<PairWord>(pairs_at(ranks_) + static_cast<std::size_t>(from) * row(ranks_))[to];
  }

 private:
  /// Bytes of the pair words of one process.
  static std::size_t row(std::uint32_t ranks) {
    return (ranks * sizeof(PairWord) + kCacheLine - 1) / kCacheLine * kCacheLine;
  }
  static std::size_t origins_at(std::uint32_t ranks) { return sizeof(ControlHeader) + ranks * sizeof(TargetLine); }
  static std::size_t pairs_at(std::uint32_t ranks) { return origins_at(ranks) + ranks * sizeof(OriginLine); }
  static std::size_t areas_at(std::uint32_t ranks) { return pairs_at(ranks) + ranks * row(ranks); }
  template <class Part>
  Part* at(std::size_t offset) const {
    return reinterpret_cast<Part*>(memory_ + offset);
  }

  std::byte* memory_ = nullptr;
  std::uint32_t ranks_ = 0;
};

}  // namespace ashlar::rma::shm
