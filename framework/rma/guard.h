#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "framework/base/types.h"

namespace ashlar::rma {

/// In memory that all processes of the window on the node map, one for each target: who updates its memory other than
/// element by element. Zero at first. A part of a cache line; the rest is the component's.
struct alignas(16) UpdateLine {
  std::atomic<std::uint32_t> gate;  // number + 1 of the process that updates a range, and flags: range_gate.h
  std::atomic<std::uint32_t> elements_waiting, ranges_waiting;  // for that process, each as many
  std::atomic<std::uint32_t> asleep;                            // of both: those that have to be woken
  std::atomic<std::uint32_t> lock;                              // futex: 0 free, 1 held, 2 held and awaited
  std::atomic<std::uint32_t> holder;                            // of `lock`: number + 1, for reports
  alignas(8) std::byte others[8];                               // of the component
};
static_assert(sizeof(UpdateLine) == 32);
/// The same, one for each origin. Zero at first.
struct alignas(kCacheLine) OriginLine {
  std::atomic<std::uint32_t> updating;  // threads of this process that update elements of some target right now
  std::atomic<std::uint32_t> awaited;   // processes that have waited long for `updating` to be zero
  alignas(8) std::byte others[56];      // of the component, which seldom change
};

/// When an update is made as a range instead of element by element, and how far at a time. No process depends on the
/// limits of another.
struct RangeLimits {
  std::uint32_t elements = 128;     // an update of so many elements is made as a range
  std::uint32_t bytes = 64 * 1024;  // updated before others that wait get their turn

  /// `elements`: parameter rma.range_elements; `granularity`: the window's mpi_accumulate_granularity, 0 for none.
  static RangeLimits of(std::uint64_t elements, std::uint64_t granularity) {
    RangeLimits limits{.elements = static_cast<std::uint32_t>(std::min<std::uint64_t>(elements, kNever))};
    if (granularity == 0) return limits;
    if (granularity <= sizeof(std::uint64_t)) limits.elements = kNever;
    limits.bytes = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(granularity, kLeastBytes, kMostBytes));
    return limits;
  }
  static constexpr std::uint32_t kNever = UINT32_MAX;
  static constexpr std::uint32_t kLeastBytes = 256, kMostBytes = 1024 * 1024;
};

/// The one discipline by which all processes update the memory of a target, so that an update by one path is atomic
/// beside those by every other. Its kind is the same in every process.
struct Guard {
  enum class Kind : std::uint8_t {
    /// Every update is made by the process that owns the memory, one at a time, under its lane's lock; or by a
    /// transport,
    /// beside which the owner's own are of another kind (RmaWindow::own_guard).
    kOwner,
    /// Naturally aligned elements of 1, 2, 4 and 8 bytes: atomic instructions; ranges: behind `line->gate`; the rest
    /// under
    /// `line->lock`. All processes that update the memory map it.
    kElements,
    /// Everything under `line->lock`: some of them cannot map it.
    kLocked
  };
  Kind kind = Kind::kOwner;
  UpdateLine* line = nullptr;     // of the target; kOwner: nullptr
  OriginLine* origins = nullptr;  // of all origins that may update, in the order of their numbers
  std::uint32_t own = 0;          // the number of this process among them
  std::uint32_t count = 0;
  RangeLimits range = {};
};

}  // namespace ashlar::rma
