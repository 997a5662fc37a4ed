#pragma once
#include <algorithm>
#include <cstdint>

#include "framework/plugin/tool.h"

namespace ashlar::recording {

/// A call from its begin to its end in 24 bytes: the fewer there are, the less memory a call makes the system clear,
/// and the more calls the ring keeps.
///
///   began  44 bits | procedure 11 | comm 9      `began` counts from the middle of its range, which is its chunk's base
///   ticks  45 bits | thread 8 | algorithm 7 | protocol 4
///   bytes  40 bits | peer 24
///
/// A number that is larger than its bits hold is the largest of them; ticks beyond 44 bits lose their last 16.
class Span {
 public:
  static constexpr std::uint32_t kMostProcedures = 1u << 11, kMostComms = 1u << 9, kMostThreads = 1u << 8;
  static constexpr std::uint32_t kMostAlgorithms = (1u << 7) - 1, kMostProtocols = (1u << 4) - 1;

  struct Facts {
    std::uint64_t began, ticks, bytes;
    std::uint32_t thread;
    std::uint16_t procedure, comm;     // rows
    std::int32_t peer;                 // in the job, or ASHLAR_TOOL_NONE
    std::uint8_t algorithm, protocol;  // rows of words plus 1; 0: none
  };

  /// Whether a call that began then can be in a chunk with this base.
  static bool fits(std::uint64_t began, std::uint64_t base) { return (began - base + kMiddle) >> kBeganBits == 0; }

  Span() = default;
  Span(const Facts& f, std::uint64_t base)
      : when_((f.began - base + kMiddle) | std::uint64_t{f.procedure} << kBeganBits | std::uint64_t{f.comm} << 55),
        how_long_(scaled(f.ticks) | std::uint64_t{std::min(f.thread, kMostThreads - 1)} << 45 |
                  std::uint64_t{f.algorithm} << 53 | std::uint64_t{f.protocol} << 60),
        // None is negative: as a number without a sign it is larger than all.
        data_(std::min(f.bytes, kMostBytes) | std::uint64_t{std::min(static_cast<std::uint32_t>(f.peer), kNoPeer)}
                                                  << 40) {}

  Facts facts(std::uint64_t base) const {
    const auto peer = static_cast<std::uint32_t>(data_ >> 40);
    return {.began = (when_ & kBeganMask) - kMiddle + base,
            .ticks = ticks(),
            .bytes = data_ & kMostBytes,
            .thread = thread(),
            .procedure = procedure(),
            .comm = static_cast<std::uint16_t>(when_ >> 55),
            .peer = peer == kNoPeer ? ASHLAR_TOOL_NONE : static_cast<std::int32_t>(peer),
            .algorithm = static_cast<std::uint8_t>(how_long_ >> 53 & kMostAlgorithms),
            .protocol = static_cast<std::uint8_t>(how_long_ >> 60)};
  }

 private:
  static constexpr int kBeganBits = 44;
  static constexpr std::uint64_t kMiddle = std::uint64_t{1} << (kBeganBits - 1);
  static constexpr std::uint64_t kBeganMask = (std::uint64_t{1} << kBeganBits) - 1;
  static constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << 40) - 1;
  static constexpr std::uint32_t kNoPeer = (1u << 24) - 1;

  static std::uint64_t scaled(std::uint64_t ticks) {
    if (ticks <= kBeganMask) [[likely]]
      return ticks;
    return std::min(ticks >> 16, kBeganMask) | std::uint64_t{1} << 44;
  }
  std::uint64_t ticks() const {
    const std::uint64_t digits = how_long_ & kBeganMask;
    return (how_long_ >> 44 & 1) != 0 ? digits << 16 : digits;
  }
  std::uint32_t thread() const { return how_long_ >> 45 & (kMostThreads - 1); }
  std::uint16_t procedure() const { return when_ >> kBeganBits & (kMostProcedures - 1); }

  std::uint64_t when_, how_long_, data_;
};
static_assert(sizeof(Span) == 24);

}  // namespace ashlar::recording
