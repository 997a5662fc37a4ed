#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ashlar {

/// The address range in which every object behind an MPI handle lies.
/// Memory taken from it is never given back to the system while the library is loaded, so looking at a stale or wild
/// handle is always a legal read: that is what lets a freed handle be an error and not a crash.
class Arena {
 public:
  /// Memory of `bytes` rounded up to whole 4 KiB pages, zeroed; nullptr when the reservation is used up. Any thread.
  static void* grow(std::size_t bytes) noexcept;

  /// Whether `p` may be the start of an object: inside the used part, aligned to a cache line.
  static bool contains(const void* p) noexcept {
    const auto offset = reinterpret_cast<std::uintptr_t>(p) - base_;
    return offset < used_.load(std::memory_order_relaxed) && offset % 64 == 0;
  }

  /// The address as a number, for handles in languages that have no pointers: the reservation of 2^36 bytes at most, in
  /// cache lines, fits an int. `at` of a number that is none gives an address for which contains() is false.
  static int number_of(const void* p) noexcept {
    return static_cast<int>((reinterpret_cast<std::uintptr_t>(p) - base_) / 64);
  }
  static void* at(int number) noexcept {
    return reinterpret_cast<void*>(base_ + 64 * static_cast<std::uintptr_t>(static_cast<unsigned>(number)));
  }

 private:
  // Defined in arena.cc and not inline: a library that hides its symbols would get copies of inline variables.
  static std::uintptr_t base_;
  static std::atomic<std::size_t> used_;  // grows only; read without the lock by contains()
  static std::size_t reserved_;
};

}  // namespace ashlar
