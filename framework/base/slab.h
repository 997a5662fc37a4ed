#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "framework/base/arena.h"
#include "framework/base/counter.h"
#include "framework/base/pool_events.h"
#include "framework/base/types.h"

namespace ashlar {

/// The first word of storage whose object was freed.
inline constexpr std::uint32_t kDead = 0xdeadc0de;

/// Fixed-size storage for objects behind handles, from the arena. Storage is reused only for the same type, so the
/// first word of a freed object (its kind) keeps saying "freed". Not thread-safe: the owner's lock guards it.
template <class T>
class Slab {
 public:
  constexpr explicit Slab(PoolName name = PoolName::kAnother) : name_(name) {}
  /// Constructs a T; nullptr when `limit()` objects are out or memory is gone.
  template <class... Arguments>
  T* take(Arguments&&... arguments) {
    if (!free_) [[unlikely]] {
      if (!refill()) return nullptr;
    }
    Cell* cell = free_;
    free_ = cell->next();
    out_.add();
    return new (cell->storage) T(std::forward<Arguments>(arguments)...);
  }
  /// Destroys `object` and keeps its storage, whose first word (an object's kind) then reads `kDead`.
  void put(T* object) {
    object->~T();
    Cell* cell = reinterpret_cast<Cell*>(reinterpret_cast<std::byte*>(object));
    // After the destructor, not in it: the compiler may drop a store into an object that is going away.
    std::memcpy(cell->storage, &kDead, sizeof kDead);
    cell->next() = free_;
    free_ = cell;
    out_.subtract();
  }
  std::size_t out() const { return out_; }
  std::size_t capacity() const { return capacity_; }
  /// Tools read it on any thread, while the holder of the slab's lock may set it.
  std::size_t limit() const { return __atomic_load_n(&limit_, __ATOMIC_RELAXED); }
  /// The two levels where they lie, for performance variables: objects that are out, and the most that were needed
  /// (rounded up to the storage that was taken for them).
  const Counter& out_level() const { return out_; }
  const Counter& capacity_level() const { return capacity_; }
  void set_limit(std::size_t objects) { __atomic_store_n(&limit_, objects, __ATOMIC_RELAXED); }

 private:
  // The link of free storage lies at its end, where the first words of the object that was freed stay as they were.
  struct Cell {
    alignas(kCacheLine) std::byte storage[sizeof(T)];

    Cell*& next() { return *reinterpret_cast<Cell**>(reinterpret_cast<std::byte*>(this + 1) - sizeof(Cell*)); }
  };
  static_assert(sizeof(Cell) >= sizeof(kDead) + sizeof(Cell*));

  bool refill() {
    if (capacity() >= limit_) {
      tell_limit_met(name_, limit_);
      return false;
    }
    if (fresh_ == fresh_end_ && !grow()) return false;
    // About a page at a time: memory that no object has been in yet is not touched.
    std::size_t count = std::max<std::size_t>(kPage / sizeof(Cell), 1);
    count = std::min({count, static_cast<std::size_t>(fresh_end_ - fresh_), limit_ - capacity()});
    for (std::size_t i = count; i-- > 0;) {
      fresh_[i].next() = free_;
      free_ = &fresh_[i];
    }
    fresh_ += count;
    capacity_.add(count);
    tell_grown(name_, capacity(), limit_);
    return true;
  }
  bool grow() {
    const std::size_t wanted = sizeof(Cell) * (capacity() == 0 ? 8 : capacity());
    const std::size_t bytes = std::max({std::min(wanted, kLargestRefill), kPage, sizeof(Cell)});
    auto* const cells = static_cast<Cell*>(Arena::grow(bytes));
    if (cells == nullptr) return false;
    fresh_ = cells;
    fresh_end_ = cells + bytes / sizeof(Cell);
    return true;
  }

  static constexpr std::size_t kPage = 4096, kLargestRefill = 256 * 1024;
  Cell* free_ = nullptr;
  Cell* fresh_ = nullptr;  // storage from the arena that was never used, up to fresh_end_
  Cell* fresh_end_ = nullptr;
  Counter out_;
  Counter capacity_;
  std::size_t limit_ = static_cast<std::size_t>(-1);
  PoolName name_;
};

}  // namespace ashlar
