#pragma once
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
    free_ = cell->next;
    out_.add();
    return new (cell->storage) T(std::forward<Arguments>(arguments)...);
  }
  /// Destroys `object` and keeps its storage, whose first word (an object's kind) then reads `kDead`.
  void put(T* object) {
    object->~T();
    Cell* cell = reinterpret_cast<Cell*>(reinterpret_cast<std::byte*>(object));
    // After the destructor, not in it: the compiler may drop a store into an object that is going away.
    std::memcpy(cell->storage, &kDead, sizeof kDead);
    cell->next = free_;
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
  // The link lies behind the object, not inside it: a freed object's first words stay readable as they were.
  struct Cell {
    alignas(kCacheLine) std::byte storage[sizeof(T)];
    Cell* next;
  };

  bool refill() {
    if (capacity() >= limit_) {
      tell_limit_met(name_, limit_);
      return false;
    }
    std::size_t bytes = sizeof(Cell) * (capacity() == 0 ? 8 : capacity());
    if (bytes > kLargestRefill) bytes = kLargestRefill;
    if (bytes < 4096) bytes = 4096;
    if (bytes < sizeof(Cell)) bytes = sizeof(Cell);
    auto* cells = static_cast<Cell*>(Arena::grow(bytes));
    if (!cells) return false;
    std::size_t count = bytes / sizeof(Cell);
    if (count > limit_ - capacity()) count = limit_ - capacity();
    for (std::size_t i = count; i-- > 0;) {
      cells[i].next = free_;
      free_ = &cells[i];
    }
    capacity_.add(count);
    tell_grown(name_, capacity(), limit_);
    return true;
  }

  static constexpr std::size_t kLargestRefill = 256 * 1024;
  Cell* free_ = nullptr;
  Counter out_;
  Counter capacity_;
  std::size_t limit_ = static_cast<std::size_t>(-1);
  PoolName name_;
};

}  // namespace ashlar
