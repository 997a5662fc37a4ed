#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "framework/base/types.h"

/// What lies in the shared segment of a communicator.
///
/// Every collective on it has a sequence number, from 1 on, and uses slot number % kSlots. A slot is written for number
/// s only when every rank is done with number s - kSlots. So ranks may run ahead of each other by kSlots collectives (a
/// broadcast's root, a reduction's leaves), and no second synchronisation is needed. Payloads that do not fit into a
/// flag's cache line lie in bounce buffers, of which there are kBufferSlots sets, by the same rule; collectives without
/// such payloads do not count there.
///
/// Every word starts at zero. Words that another rank reads while this one may write them are atomic; payloads are
/// ordered by the flag behind them: its writer stores it with release, a reader loads it with acquire.
namespace ashlar::coll::shm {

inline constexpr std::uint64_t kSlots = 64;
inline constexpr std::uint64_t kBufferSlots = 8;
inline constexpr std::size_t kInline = 56;  // bytes of payload that share a cache line with their flag

/// A flag is a collective's number, modulo 2^48, with the call signature above it. Readers compare the whole word, so
/// they find calls that do not agree at no cost (mismatch.h). A signature is never 0, so a flag that was never written
/// equals none.
inline constexpr unsigned kNumberBits = 48;
inline constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kNumberBits) - 1;

/// A payload and its flag, which is stored last. Larger payloads lie in the bounce buffer of the same rank and number.
struct alignas(kCacheLine) FlagLine {
  std::byte data[kInline];
  std::atomic<std::uint64_t> flag;
};
static_assert(sizeof(FlagLine) == kCacheLine);

/// What a rank called, in the slot of the call's first number. It stays until that slot is written again.
struct CallRecord {
  std::atomic<std::uint64_t> head;        // number << 24 | numbers it takes besides << 8 | Collective + 1; stored last
  std::atomic<std::uint64_t> root_bytes;  // root << 48 | quantity of bytes
};

/// State of one rank. That rank alone writes it.
struct alignas(kCacheLine) RankState {
  std::atomic<std::uint64_t> done;      // the rank reads no slot of this number, or of a lower one, again
  std::atomic<std::uint32_t> sleeping;  // above 0: it may be asleep, and has to be woken
  std::atomic<std::uint32_t> core;      // on which it ran last; kept where ranks share cores
  // Set when the rank attaches, before it publishes that, and constant afterwards:
  std::int32_t pid;
  std::uint64_t probe;  // address of a word in its own memory that holds the segment's nonce
};
static_assert(sizeof(RankState) == kCacheLine);

struct alignas(kCacheLine) SegmentHeader {
  std::uint64_t nonce;
  std::uint32_t ranks;
  std::uint32_t flat;  // 1: every rank reads every flag; 0: the last rank to arrive acts for all
  alignas(kCacheLine) std::atomic<std::uint32_t> sleepers;  // sum of `sleeping` over the ranks
  std::atomic<std::uint64_t> mismatched;  // last number of the latest collective in which calls did not agree
};

/// Addresses of the parts. Parts lie behind each other: header, rank states, kSlots slots (a counter, a result, a
/// contribution of each rank), call records, bounce buffers.
class SegmentLayout {
 public:
  SegmentLayout() = default;
  SegmentLayout(std::byte* base, std::uint32_t ranks, std::uint64_t buffer_bytes)
      : base_(base), ranks_(ranks), buffer_bytes_(buffer_bytes) {}
  static std::uint64_t bytes(std::uint32_t ranks, std::uint64_t buffer_bytes) {
    const SegmentLayout layout(nullptr, ranks, buffer_bytes);
    return layout.buffers_begin() + kBufferSlots * (ranks + 1) * buffer_bytes;
  }
  /// This process's own copy: what lies in the header, another process could overwrite.
  std::uint32_t ranks() const { return ranks_; }

  SegmentHeader& header() const { return *at<SegmentHeader>(0); }
  RankState& rank(std::uint32_t r) const { return *at<RankState>(sizeof(SegmentHeader) + r * sizeof(RankState)); }
  /// Ranks that have arrived at the collective in this slot, where the last one acts for all.
  std::atomic<std::uint32_t>& arrived(std::uint64_t number) const {
    return *at<std::atomic<std::uint32_t>>(slot(number));
  }
  FlagLine& result(std::uint64_t number) const { return *at<FlagLine>(slot(number) + kCacheLine); }
  FlagLine& contribution(std::uint64_t number, std::uint32_t r) const {
    return *at<FlagLine>(slot(number) + 2 * kCacheLine + r * sizeof(FlagLine));
  }
  CallRecord& record(std::uint64_t number, std::uint32_t r) const {
    return *at<CallRecord>(records_begin() + (r * kSlots + number % kSlots) * sizeof(CallRecord));
  }
  std::byte* result_buffer(std::uint64_t number) const { return buffer(number, ranks_); }
  std::byte* contribution_buffer(std::uint64_t number, std::uint32_t r) const { return buffer(number, r); }

 private:
  template <class T>
  T* at(std::uint64_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  std::uint64_t slot_bytes() const { return (2 + ranks_) * kCacheLine; }
  std::uint64_t slot(std::uint64_t number) const {
    return sizeof(SegmentHeader) + ranks_ * sizeof(RankState) + (number % kSlots) * slot_bytes();
  }
  std::uint64_t records_begin() const {
    return sizeof(SegmentHeader) + ranks_ * sizeof(RankState) + kSlots * slot_bytes();
  }
  // Buffers begin on a page, so that the first use of a flag touches no page of theirs.
  std::uint64_t buffers_begin() const {
    return (records_begin() + ranks_ * kSlots * sizeof(CallRecord) + 4095) / 4096 * 4096;
  }
  std::byte* buffer(std::uint64_t number, std::uint32_t index) const {
    return base_ + buffers_begin() + ((number % kBufferSlots) * (ranks_ + 1) + index) * buffer_bytes_;
  }

  std::byte* base_ = nullptr;
  std::uint32_t ranks_ = 0;
  std::uint64_t buffer_bytes_ = 0;
};

}  // namespace ashlar::coll::shm
