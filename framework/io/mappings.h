#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>

#include "framework/io/map_account.h"
#include "framework/io/stream.h"

namespace ashlar::io {

class OpenFile;

/// The part of a file that an access to pieces needs, and what a mapping would mean for it.
struct MapWish {
  std::uint64_t first = 0, end = 0;
  double bytes = 0;         // that move
  double others = 0;        // nanoseconds of the cheapest other way, by estimate
  double estimate = 0;      // of this one, once its pages are there
  double faults = 0;        // of the pages of a new mapping
  bool every_page = false;  // of a file in memory has some of the pieces
  bool forced = false;
};

/// What the quickest of some accesses took, in nanoseconds a byte: it has waited for nobody.
struct Pace {
  double least = std::numeric_limits<double>::infinity();
  unsigned seen = 0;

  void add(double took, double bytes) {
    least = std::min(least, took / bytes);
    ++seen;
  }
};

/// Ranges of a file that this process keeps mapped, because accesses to pieces come back to them. The bytes are copied
/// by the system (process_vm_readv(2), process_vm_writev(2) of this process), not by loads and stores: where a page is
/// behind the end of a file that another program has cut off, or there is no room for it, the call moves fewer bytes
/// and there is no signal. What is left then goes another way, which says why it fails. Any thread; one uses a file's
/// mappings at a time, others go another way.
class Mappings {
 public:
  /// Moves bytes of the stream between contiguous memory and the file, from the front on, and returns how many: fewer,
  /// or none, are no failure.
  std::uint64_t move(OpenFile& file, bool writes, const Stream& stream, std::byte* memory, const MapWish& wish);
  /// An access to the same went another way, and took so many nanoseconds; 0: nobody knows.
  void passed_by(OpenFile& file, bool writes, const MapWish& wish, double took);
  /// Whether the range is mapped or would be with the next access, and accesses as large have not been quicker the
  /// other ways. For a collective access, whose processes have to take one way.
  bool offers(bool writes, const MapWish& wish);
  /// Whether the range is mapped.
  bool has(std::uint64_t first, std::uint64_t end);
  /// The system writes all pages to the device, or cuts them off, and each faults at the next store, as in a new
  /// mapping.
  void start_anew(OpenFile& file);
  /// Before the file is closed.
  void drop(OpenFile& file);

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;  // of the file; empty: the place is free
    std::byte* memory = nullptr;       // nullptr: not mapped, only counted
    std::uint64_t used = 0;            // when, in accesses
    MapAccount account;
    // What other ways took in reads and writes of this range, in their estimates: processes wait for each other.
    double slower[2] = {1, 1};
    std::array<Pace, 2> other_ways = {}, mapped = {};  // of reads and writes

    bool holds(std::uint64_t first, std::uint64_t last) const { return begin <= first && last <= end; }
  };
  static constexpr std::size_t kRanges = 8;
  static constexpr std::uint64_t kUnit = std::uint64_t{1} << 20;  // ranges begin and end at multiples of it

  Range* find(const MapWish& wish);
  Range& make(OpenFile& file, const MapWish& wish);
  bool map(OpenFile& file, Range& range);
  static std::uint64_t write(OpenFile& file, const Range& range, const Stream& stream, std::byte* memory,
                             const MapWish& wish, bool made);
  void unmap(OpenFile& file, Range& range);
  static double others(const Range& range, bool writes, const MapWish& wish) {
    return wish.others * range.slower[writes ? 1 : 0];
  }

  std::mutex busy_;  // guards the rest
  std::array<Range, kRanges> ranges_;
  std::uint64_t accesses_ = 0;
  std::uint64_t bytes_ = 0;  // mapped
};

/// Bytes of a file that may be mapped (io.map_bytes).
std::uint64_t map_room();
/// Whether the file may be mapped at all. Not in atomic mode, in which an access is one step for the others.
bool may_map(const OpenFile& file, bool writes);

}  // namespace ashlar::io
