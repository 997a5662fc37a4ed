#pragma once
#include <cstdint>

#include "framework/io/facts.h"

/// What moving data costs, in picoseconds: the model by which ways are chosen. The numbers are those of a file in the
/// page cache, where the choice matters most; a device that is slower is so for all ways alike.
namespace ashlar::io::cost {

inline constexpr std::uint64_t kCall = 350'000;       // of a system call that moves a piece
inline constexpr std::uint64_t kByte = 300;           // between memory and the file
inline constexpr std::uint64_t kCopy = 200;           // from memory to memory
inline constexpr std::uint64_t kPiece = 6'000;        // of a small copy
inline constexpr std::uint64_t kMeeting = 4'000'000;  // of processes that wait for each other

/// Pieces one by one.
constexpr std::uint64_t list(std::uint64_t pieces, std::uint64_t bytes) { return pieces * kCall + bytes * kByte; }

/// The whole of `hull` bytes, in windows; a write reads it as well.
constexpr std::uint64_t sieve(bool writes, std::uint64_t hull, std::uint64_t window, std::uint64_t pieces,
                              std::uint64_t bytes) {
  const std::uint64_t moves = writes ? 2 : 1;
  return moves * (hull * kByte + (hull / window + 1) * kCall) + pieces * kPiece + bytes * kCopy;
}

}  // namespace ashlar::io::cost
