#pragma once
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
    return offset < used_ && offset % 64 == 0;
  }

  /// A 32-bit name for an object of the arena, to send to other processes and get back; at() of any other number is
  /// nullptr or some other place in the arena.
  static std::uint32_t index_of(const void* p) noexcept {
    return static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(p) - base_) / 64);
  }
  static void* at(std::uint32_t index) noexcept {
    const std::size_t offset = std::size_t{index} * 64;
    return offset < used_ ? reinterpret_cast<void*>(base_ + offset) : nullptr;
  }

 private:
  static inline std::uintptr_t base_ = 0;
  static inline std::size_t used_ = 0;  // grows only; read without the lock by contains()
  static inline std::size_t reserved_ = 0;
};

}  // namespace ashlar
