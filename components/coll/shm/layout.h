#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "framework/base/types.h"

/// What lies in the shared segment of a communicator. Every collective on it has a number, from 1 on, and uses slot
/// number % kSlots; a slot is written for number s only when every rank is done with number s - kSlots. So ranks may
/// run ahead of each other by kSlots collectives (a broadcast's root, a reduction's leaves), and no second
/// synchronisation is ever needed. Payloads that do not fit into a line have kLargeSlots places of their own, by the
/// same rule. All words start at zero.
namespace ashlar::coll::shm {

inline constexpr std::uint64_t kSlots = 64;
inline constexpr std::uint64_t kLargeSlots = 8;
inline constexpr std::size_t kInline = 56;  // bytes of payload that share a cache line with their number

/// What a collective writes as its number: the number itself, and above it a mark of the call, so that ranks whose
/// calls do not agree notice it at no cost (agree.h).
inline constexpr unsigned kNumberBits = 48;
inline constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kNumberBits) - 1;

/// A payload and the number it belongs to: the writer stores the number last. Larger payloads lie elsewhere.
struct alignas(kCacheLine) Line {
  std::byte data[kInline];
  std::atomic<std::uint64_t> number;
};
static_assert(sizeof(Line) == kCacheLine);

/// What a rank called, in the slot of its first number, which is stored last. As long as anybody may be at that number
/// it stays.
struct CallNote {
  std::atomic<std::uint64_t> number_what;  // number << 24 | how many more numbers it takes << 8 | Collective
  std::atomic<std::uint64_t> root_bytes;   // root << 48 | quantity of bytes
};

/// Of one rank, written by it alone.
struct alignas(kCacheLine) RankLine {
  std::atomic<std::uint64_t> done;      // it will not look at slots of this number, or lower ones, again
  std::atomic<std::uint32_t> sleeping;  // it may be asleep: wake it
  std::atomic<std::uint32_t> core;      // where it has run last, where ranks take turns
  std::int32_t pid;                     // set when it attaches, like the rest
  std::uint64_t probe;                  // where a word lies in its own memory that holds the segment's nonce
  std::uint64_t cores;                  // a mark of the set of cores it may run on, and how many they are
  std::uint32_t core_count;
  std::atomic<std::uint32_t> wants_turn;  // it waits for a turn to copy
};
static_assert(sizeof(RankLine) == kCacheLine);

struct alignas(kCacheLine) Header {
  std::uint64_t nonce;
  std::uint64_t bytes;        // of the segment
  std::uint64_t large_bytes;  // room for one large payload
  std::uint32_t ranks;
  std::uint32_t flat;  // 1: everyone looks at everyone; 0: the last to arrive acts for all
  alignas(kCacheLine) std::atomic<std::uint32_t> sleepers;  // ranks whose `sleeping` is set
  std::atomic<std::uint64_t> parted;  // the last number of a collective in which the ranks did not agree
  alignas(kCacheLine) std::atomic<std::uint32_t> moving;  // ranks whose turn to copy it is
};

/// Where the parts lie, behind the header.
class Layout {
 public:
  Layout() = default;
  Layout(std::byte* base, std::uint32_t ranks, std::uint64_t large_bytes)
      : base_(base), ranks_(ranks), large_(large_bytes) {}
  static std::uint64_t bytes(std::uint32_t ranks, std::uint64_t large_bytes) {
    const Layout layout(nullptr, ranks, large_bytes);
    return layout.large_begin() + kLargeSlots * (ranks + 1) * large_bytes;
  }
  Header& header() const { return *at<Header>(0); }
  RankLine& rank(std::uint32_t r) const { return *at<RankLine>(sizeof(Header) + r * sizeof(RankLine)); }
  /// How many ranks have arrived at the collective in this slot.
  std::atomic<std::uint32_t>& arrived(std::uint64_t number) const {
    return *at<std::atomic<std::uint32_t>>(slot(number));
  }
  Line& result(std::uint64_t number) const { return *at<Line>(slot(number) + kCacheLine); }
  Line& contribution(std::uint64_t number, std::uint32_t r) const {
    return *at<Line>(slot(number) + 2 * kCacheLine + r * sizeof(Line));
  }
  CallNote& note(std::uint64_t number, std::uint32_t r) const {
    return *at<CallNote>(notes_begin() + (r * kSlots + number % kSlots) * sizeof(CallNote));
  }
  std::byte* large_result(std::uint64_t number) const { return large(number, ranks_); }
  std::byte* large_contribution(std::uint64_t number, std::uint32_t r) const { return large(number, r); }

 private:
  template <class T>
  T* at(std::uint64_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  std::uint64_t slot_bytes() const { return (2 + ranks_) * kCacheLine; }
  std::uint64_t slot(std::uint64_t number) const {
    return sizeof(Header) + ranks_ * sizeof(RankLine) + (number % kSlots) * slot_bytes();
  }
  std::uint64_t notes_begin() const { return sizeof(Header) + ranks_ * sizeof(RankLine) + kSlots * slot_bytes(); }
  // Large payloads begin on a page, so that none is touched before it is used.
  std::uint64_t large_begin() const {
    return (notes_begin() + ranks_ * kSlots * sizeof(CallNote) + 4095) / 4096 * 4096;
  }
  std::byte* large(std::uint64_t number, std::uint32_t index) const {
    return base_ + large_begin() + ((number % kLargeSlots) * (ranks_ + 1) + index) * large_;
  }

  std::byte* base_ = nullptr;
  std::uint32_t ranks_ = 0;
  std::uint64_t large_ = 0;
};

}  // namespace ashlar::coll::shm
