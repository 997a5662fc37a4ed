#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "components/coll/shm/segment/member.h"
#include "framework/coll/call.h"

namespace ashlar::coll::shm {

/// Whether a payload travels in the cache line of its flag.
inline bool is_inline(MPI_Count bytes) { return bytes <= static_cast<MPI_Count>(kInline); }

/// The payloads of one collective, in bytes of the largest.
struct Payloads {
  MPI_Count own = 0;                                      // that this rank writes
  MPI_Count any = std::numeric_limits<MPI_Count>::max();  // that any rank writes, as far as all ranks know it
};

/// 16 bits, in their place above the number, that are equal where calls agree: made of the collective, its root and its
/// quantity of bytes. Never all 0.
inline std::uint64_t signature_of(Collective what, Rank root, MPI_Count bytes) {
  const std::uint64_t call = static_cast<std::uint64_t>(bytes) ^ static_cast<std::uint64_t>(what) << 56 ^
                             static_cast<std::uint64_t>(static_cast<std::uint32_t>(root)) << 40;
  return ((call ^ call >> 29) * 0x9e3779b97f4a7c15u & ~kNumberMask) | std::uint64_t{1} << kNumberBits;
}

/// One collective's numbers on a segment, `first` to `last`, of which it is at `number`; and where its payloads lie.
/// It is taken at the call, and begins when it is ready: its turn has come on this rank and its slot is free. It ends
/// with done() for the last number (publish.h), or in the wait that fails (waits.h).
/// Trivial: it lives in coroutines, and by value.
struct Ticket {
  Member* member = nullptr;
  const Call* call = nullptr;
  std::uint64_t number = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t ahead = 0;  // how many numbers ranks may run ahead of each other, with this payload
  std::uint64_t signature = 0;

  /// Takes the next `numbers` numbers.
  static Ticket take(Member& member, const Call& call, const Payloads& payloads, std::uint64_t numbers) {
    const std::uint64_t first = member.next_number;
    member.next_number += numbers;
    if (!is_inline(payloads.any)) member.note_buffered(first, member.next_number - 1);
    return Ticket{.member = &member,
                  .call = &call,
                  .number = first,
                  .first = first,
                  .last = member.next_number - 1,
                  .ahead = is_inline(payloads.own) ? kSlots : kBufferSlots,
                  .signature = signature_of(call.what, call.root, call.bytes)};
  }

  bool is_turn() const { return member->turn == number; }
  bool slot_free() const { return member->slot_free(number, ahead) || buffer_free(); }
  /// Lets the next collective begin.
  void end_turn() const { member->pass_turn(last + 1); }
  /// It failed before its turn.
  void abandon() const { member->abandon(first, last); }

  /// What flags of this number hold.
  std::uint64_t flag() const { return (number & kNumberMask) | signature; }
  /// Says in the segment what this rank called. Before its first flag.
  void record_call() const {
    CallRecord& mine = layout().record(number, me());
    const std::uint64_t more = last - number < 0xffff ? last - number : 0xffff;
    mine.root_bytes.store(
        static_cast<std::uint64_t>(call->root) << kNumberBits | (static_cast<std::uint64_t>(call->bytes) & kNumberMask),
        std::memory_order_relaxed);
    mine.head.store(number << 24 | more << 8 | (static_cast<std::uint64_t>(call->what) + 1), std::memory_order_release);
  }

  const SegmentLayout& layout() const { return member->layout; }
  std::uint32_t me() const { return static_cast<std::uint32_t>(member->me); }
  std::uint32_t ranks() const { return layout().ranks(); }

  /// Whether this rank may write into the slot all the same: it does not matter which ranks are still in a barrier or
  /// another collective without bounce buffers when the ticket comes round to its buffer for the first time. So the
  /// root of a broadcast in as many pieces as there are buffers is done before the others begin. Not known, and false,
  /// once a later collective with such payloads has been taken.
  bool buffer_free() const {
    if (ahead != kBufferSlots || number - first >= kBufferSlots || member->buffered_first != first) return false;
    const std::uint64_t slot_before = number > kSlots ? number - kSlots : 0;
    return member->all_done >= std::max(member->buffered_before, slot_before);
  }

  FlagLine& line(std::uint32_t r) const { return layout().contribution(number, r); }
  FlagLine& result_line() const { return layout().result(number); }
  std::byte* buffer(std::uint32_t r) const { return layout().contribution_buffer(number, r); }
  std::byte* result_buffer() const { return layout().result_buffer(number); }
  /// Rank r's payload of this size: inside its line, or in its bounce buffer.
  std::byte* payload(std::uint32_t r, MPI_Count bytes) const { return is_inline(bytes) ? line(r).data : buffer(r); }
  std::byte* result(MPI_Count bytes) const { return is_inline(bytes) ? result_line().data : result_buffer(); }
};

}  // namespace ashlar::coll::shm
