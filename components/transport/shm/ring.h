#pragma once
#include <cstdint>
#include <cstring>
#include <utility>

#include "components/transport/shm/layout.h"
#include "framework/base/counter.h"

// One ring: one sender, one receiver, records of whole cache lines. Short path.
//
// The receiver polls the head word of the next line; a record is published by one release store of that word. For that
// the word must not look published before. The sender keeps it so without touching a second line for small messages:
// a line that was a record's first line still holds the phase of an earlier lap, which is not the present one. Only
// lines that were payload (or were skipped) may hold anything; the sender remembers them in `dirty_` and zeroes such a
// word before it publishes the record in front of it. Invariant: the line behind the last published record is clean.
namespace ashlar::shm {

inline constexpr std::uint32_t kAlignedFrom = 512;  // payload bytes from which a record is kAligned

inline constexpr std::uint32_t kMaxShort = 488;  // with its header, eight lines

constexpr std::uint32_t lines_of(std::uint32_t length, Form form) {
  return form == kAligned ? 1 + (length + 63) / 64 : (24 + length + 63) / 64;
}
constexpr Form form_of(std::uint32_t length) { return length >= kAlignedFrom ? kAligned : kPacked; }

constexpr std::uint64_t phase_of(std::uint64_t position, std::uint32_t shift) {
  return ((position >> shift) & 0x7fff) | 0x8000;
}

/// Copies up to kInlineBytes, reading and writing exactly [0, n).
inline void copy_inline(std::byte* to, const void* from, std::uint32_t n) {
  const auto* f = static_cast<const std::byte*>(from);
  if (n == 8) {  // the commonest size, one load and one store
    std::memcpy(to, f, 8);
  } else if (n >= 16) {
    std::memcpy(to, f, 16);
    if (n > 32) std::memcpy(to + 16, f + 16, 16);
    std::memcpy(to + n - 16, f + n - 16, 16);
  } else if (n >= 8) {
    std::memcpy(to, f, 8);
    std::memcpy(to + n - 8, f + n - 8, 8);
  } else if (n >= 4) {
    std::memcpy(to, f, 4);
    std::memcpy(to + n - 4, f + n - 4, 4);
  } else if (n > 0) {
    to[0] = f[0];
    to[n / 2] = f[n / 2];
    to[n - 1] = f[n - 1];
  }
}

/// The sender's end. `dirty` is a bitmap of the ring's lines, owned by the caller, all ones when the ring was used
/// before.
class Outbound {
 public:
  void attach(Line* base, std::uint32_t shift, Slot* slot, std::uint64_t* dirty) {
    base_ = base;
    dirty_ = dirty;
    slot_ = slot;
    shift_ = shift;
    mask_ = (1u << shift) - 1;
    begun_.set(slot->start);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    tail_.set(slot->start);
    limit_ = tail_ + mask_ + 1;
  }
  bool attached() const { return base_ != nullptr; }

  /// Room for a record of `lines` contiguous lines, or nullptr: the ring is full (or not there yet).
  Line* reserve(std::uint32_t lines) {
    const std::uint32_t index = static_cast<std::uint32_t>(tail_) & mask_;
    if (tail_ + lines < limit_ && index + lines <= mask_ + 1) [[likely]]
      return base_ + index;
    return reserve_slowly(lines);
  }
  /// The same for one line, which never wraps.
  Line* reserve_one() {
    if (tail_ + 1 < limit_) [[likely]]
      return base_ + (tail_ & mask_);
    return reserve_slowly(1);
  }

  void publish_one(Line* line, std::uint8_t id, std::uint32_t length) {
    keep_clean(static_cast<std::uint32_t>(tail_ + 1) & mask_);
    line->head.store(word(length, id, kPacked), std::memory_order_release);
    tail_.add(1);
  }
  void publish(Line* line, std::uint8_t id, std::uint32_t length, Form form, std::uint32_t lines) {
    const std::uint32_t index = static_cast<std::uint32_t>(tail_) & mask_;
    if (lines > 1) mark_dirty(index + 1, lines - 1);
    keep_clean(static_cast<std::uint32_t>(tail_ + lines) & mask_);
    line->head.store(word(length, id, form), std::memory_order_release);
    tail_.add(lines);
    if (lines > 1) {
      longer_records_.add();
      longer_bytes_.add(length);
    }
  }
  /// Calls visit(id, h0, h1) for the records from `position` on, oldest first. False: these are not known any more. The
  /// receiver never writes into them, so they stay until the ring comes round again.
  template <class Visit>
  bool revisit(std::uint64_t position, Visit&& visit) const {
    if (position < slot_->start || position > tail_ || tail_ - position > mask_) return false;
    while (position < tail_) {
      const Line& line = base_[position & mask_];
      const std::uint64_t word = line.head.load(std::memory_order_relaxed);
      const auto form = static_cast<Form>((word >> 16) & 0xff);
      if (form == kSkip) {
        position += mask_ + 1 - (position & mask_);
        continue;
      }
      visit(static_cast<std::uint8_t>(word >> 24), line.h0, line.h1);
      position += lines_of(static_cast<std::uint32_t>(word >> 32), form);
    }
    return true;
  }
  /// What was sent, for tools: any thread, any time. Records of one line are not counted, which would cost each of them
  /// an instruction.
  std::uint64_t lines() const {
    const std::uint64_t tail = tail_.get();
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    const std::uint64_t begun = begun_.get();
    return tail > begun ? tail - begun : 0;
  }
  std::uint64_t longer_records() const { return longer_records_.get(); }
  std::uint64_t longer_bytes() const { return longer_bytes_.get(); }
  /// Where this sender's first record lies.
  std::uint64_t first() const { return slot_->start; }

  /// Gives up what reserve() gave: the payload may have been written in part.
  void abandon(std::uint32_t lines) {
    if (lines > 1) mark_dirty((static_cast<std::uint32_t>(tail_) & mask_) + 1, lines - 1);
  }

 private:
  std::uint64_t word(std::uint32_t length, std::uint8_t id, Form form) const {
    return static_cast<std::uint64_t>(length) << 32 | static_cast<std::uint64_t>(id) << 24 |
           static_cast<std::uint64_t>(form) << 16 | phase_of(tail_, shift_);
  }
  void keep_clean(std::uint32_t index) {
    std::uint64_t& bits = dirty_[index / 64];
    if (const std::uint64_t bit = 1ull << (index % 64); bits & bit) [[unlikely]] {
      bits &= ~bit;
      base_[index].head.store(0, std::memory_order_relaxed);
    }
  }
  void mark_dirty(std::uint32_t first, std::uint32_t count) {
    while (count > 0) {
      const std::uint32_t in_word = 64 - first % 64 < count ? 64 - first % 64 : count;
      const std::uint64_t ones = in_word == 64 ? ~0ull : (1ull << in_word) - 1;
      dirty_[first / 64] |= ones << (first % 64);
      first += in_word;
      count -= in_word;
    }
  }
  [[gnu::noinline]] Line* reserve_slowly(std::uint32_t lines) {
    if (base_ == nullptr) return nullptr;
    const std::uint32_t size = mask_ + 1;
    const std::uint32_t index = static_cast<std::uint32_t>(tail_) & mask_;
    const std::uint32_t skip = index + lines > size ? size - index : 0;
    if (tail_ + skip + lines >= limit_) {
      limit_ = slot_->consumed.load(std::memory_order_acquire) + size;
      if (tail_ + skip + lines >= limit_) return nullptr;
    }
    if (skip > 0) {
      if (skip > 1) mark_dirty(index + 1, skip - 1);
      keep_clean(0);
      base_[index].head.store(word(0, 0, kSkip), std::memory_order_release);
      tail_.add(skip);
    }
    return base_ + (tail_ & mask_);
  }

  Line* base_ = nullptr;
  Counter tail_;             // position of the next record, in lines since the ring was made
  std::uint64_t limit_ = 0;  // positions below it may be written; one line is kept free for the invariant
  std::uint64_t* dirty_ = nullptr;
  Slot* slot_ = nullptr;
  std::uint32_t mask_ = 0, shift_ = 0;
  Counter begun_;  // where the first record lies
  Counter longer_records_, longer_bytes_;
};

/// The receiver's end.
class Inbound {
 public:
  void attach(Line* base, std::uint32_t shift, Slot* slot) {
    base_ = base;
    slot_ = slot;
    shift_ = shift;
    mask_ = (1u << shift) - 1;
    begun_.set(slot->start);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&head_, slot->start, __ATOMIC_RELAXED);
    report_at_ = head_ + (mask_ + 1) / 4;
  }

  bool has_news() const {
    const std::uint64_t word = base_[head_ & mask_].head.load(std::memory_order_acquire);
    return (word & 0xffff) == phase_of(head_, shift_);
  }

  /// Hands up to `budget` records to `deliver(id, h0, h1, data, length)`; returns how many.
  template <class Deliver>
  unsigned drain(unsigned budget, Deliver&& deliver) {
    unsigned count = 0;
    while (count < budget) {
      const Line* line = base_ + (head_ & mask_);
      const std::uint64_t word = line->head.load(std::memory_order_acquire);
      if ((word & 0xffff) != phase_of(head_, shift_)) break;
      const auto form = static_cast<Form>((word >> 16) & 0xff);
      if (form == kSkip) [[unlikely]] {
        advance(mask_ + 1 - (static_cast<std::uint32_t>(head_) & mask_));
        continue;
      }
      const auto length = static_cast<std::uint32_t>(word >> 32);
      const std::uint32_t lines = lines_of(length, form);
      const std::byte* data = form == kAligned ? reinterpret_cast<const std::byte*>(line + 1) : line->data;
      deliver(static_cast<std::uint8_t>(word >> 24), line->h0, line->h1, data, length);
      advance(lines);
      ++count;
    }
    return count;
  }

  /// What was taken in, for tools: any thread, any time.
  std::uint64_t lines() const {
    const std::uint64_t head = __atomic_load_n(&head_, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    const std::uint64_t begun = begun_.get();
    return head > begun ? head - begun : 0;
  }
  /// Up to where records were delivered.
  std::uint64_t position() const { return head_; }

  /// Tells the sender exactly how far this end has got.
  void report() { slot_->consumed.store(head_, std::memory_order_release); }

  /// Prepares the ring for another sender: its first head word must not look published. Only when drained.
  void rewind_for_next_sender() {
    base_[head_ & mask_].head.store(0, std::memory_order_relaxed);
    slot_->start = head_;
    slot_->used_before = 1;
    slot_->consumed.store(head_, std::memory_order_relaxed);
  }
  /// Whether anything was taken since the last call of this function.
  bool delivered_since_last_look() { return std::exchange(looked_at_, head_) != head_; }

 private:
  void advance(std::uint32_t lines) {
    const std::uint64_t head = head_ + lines;
    __atomic_store_n(&head_, head, __ATOMIC_RELAXED);
    if (head >= report_at_) [[unlikely]] {
      slot_->consumed.store(head_, std::memory_order_release);
      report_at_ = head_ + (mask_ + 1) / 4;
    }
  }

  Line* base_ = nullptr;
  std::uint64_t head_ = 0;
  std::uint64_t report_at_ = 0;
  std::uint64_t looked_at_ = 0;
  Counter begun_;
  Slot* slot_ = nullptr;
  std::uint32_t mask_ = 0, shift_ = 0;
};

}  // namespace ashlar::shm
