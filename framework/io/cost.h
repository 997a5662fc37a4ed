#pragma once
#include <cstdint>

/// What moving data costs, in nanoseconds: the model by which ways are chosen.
namespace ashlar::io {

/// What the system takes to move data one way.
struct Rate {
  double call = 0;  // of a system call that moves a piece
  double byte = 0;  // between memory and the file, in long transfers
};

/// What a file system takes: as it was measured last (meter.h).
struct Rates {
  Rate read, write;
};

namespace cost {

/// Of a file in the page cache, before anything is measured.
inline constexpr Rates kUsual = {.read = {.call = 400, .byte = 0.08}, .write = {.call = 700, .byte = 0.1}};
inline constexpr double kCopy = 0.1;            // of a byte, from memory to memory
inline constexpr double kPiece = 6;             // of a piece that is copied
inline constexpr double kMark = 0.1;            // of a byte of a window whose bytes are marked as they come
inline constexpr double kHold = 2'000;          // of a range of the file that is held while a window is written back
inline constexpr double kMeeting = 4'000;       // of processes that wait for each other
inline constexpr double kFarByte = 1;           // of a byte that a message takes to another host
inline constexpr double kFarMeeting = 200'000;  // of a round of such messages
inline constexpr double kMappedPiece = 25;      // of a piece that the system copies in a mapping
inline constexpr double kMappedByte = 0.07;     // of a byte of it
inline constexpr double kWriteFault = 3'000;    // of a page of a new mapping that is written
inline constexpr double kPageAtOnce = 350;      // of one of many pages of a file in memory that are written
inline constexpr double kReadFault = 300;       // that is read: the system maps its neighbours, too
inline constexpr double kPage = 4096;
inline constexpr double kForbidden = 1e30;  // of a way that is not open

/// Pieces one by one.
constexpr double list(const Rate& rate, double pieces, double bytes) { return pieces * rate.call + bytes * rate.byte; }

/// A contiguous part of the file, in windows.
constexpr double windows(const Rate& rate, double bytes, double window) {
  return bytes * rate.byte + (bytes / window + 1) * rate.call;
}

/// Through a mapping whose pages are there. A system call before it makes sure of the file's size.
constexpr double mapped(const Rate& rate, double pieces, double bytes) {
  return rate.call + pieces * kMappedPiece + bytes * kMappedByte;
}
/// The page faults of a new mapping, for pieces that lie in `hull` bytes.
constexpr double faults(bool writes, bool at_once, double pieces, double hull) {
  const double pages = hull / kPage < pieces ? hull / kPage : pieces;
  return (pages + 1) * (!writes ? kReadFault : at_once ? kPageAtOnce : kWriteFault);
}

/// What lies between the pieces as well, `hull` bytes, in windows; a write reads them first.
constexpr double sieve(const Rates& rates, bool writes, double hull, double window, double pieces, double bytes) {
  const double copies = pieces * kPiece + bytes * kCopy;
  if (!writes) return windows(rates.read, hull, window) + copies;
  return windows(rates.read, hull, window) + windows(rates.write, hull, window) + (hull / window + 1) * kHold + copies;
}

}  // namespace cost
}  // namespace ashlar::io
