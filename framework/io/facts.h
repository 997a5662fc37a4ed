#pragma once
#include <cstdint>

#include "framework/io/cost.h"

namespace ashlar::io {

/// How the data of a call gets to the file, and from it.
enum class Way : std::uint8_t { kAuto, kList, kSieve, kTwoPhase, kMapped };
inline constexpr const char* kWays[] = {"auto", "list", "sieve", "two_phase", "mapped", nullptr};

/// What a hint that may be switched says.
enum class Switch : std::uint8_t { kAuto, kOff, kOn };

/// What the others of a collective access must know of one process's part: plain data, read from shared
/// memory, or sent to processes of the same library.
struct Facts {
  enum : std::uint32_t {
    kWrites = 1,
    kUnordered = 2,   // the view has pieces in common: what lies below an offset is not known
    kConverted = 4,   // the data representation converts
    kUnreadable = 8,  // MPI_MODE_WRONLY: windows cannot be read
    kAtomic = 16,
    kVerifies = 32,  // what is written is read again
    kBlocking = 64,  // the call returns when the access is over
    kIncoherent = 128,
    kMapped = 256  // a mapping of the process has its part, or accesses have come back to it often enough for one
  };
  std::uint64_t number = 0;          // of the collective call
  std::uint64_t first = 0, end = 0;  // of the file; empty: no data
  std::uint64_t bytes = 0;
  std::uint64_t pieces = 0;  // by estimate
  std::uint32_t call = 0;    // a hash of the call's name
  std::int32_t failure = 0;  // the error class of a process that cannot take part
  std::uint32_t flags = 0;
  // Hints; those of rank 0 count, so that all choose alike.
  std::uint32_t aggregators = 0;  // 0: as many as there are processes
  std::uint64_t window = 0;
  Switch together = Switch::kAuto;
  Switch sieve = Switch::kAuto;
  Way way = Way::kAuto;
  Rates rates;  // as rank 0 has measured
  std::uint64_t sieve_window = 0;
  std::uint32_t node = 0;    // between nodes only
  std::uint32_t view = 0;    // which call of MPI_File_set_view the process has its view of
  std::uint32_t common = 0;  // View::common
  // Of an access in the order of the ranks: what it moves the shared pointer by, and where it begins.
  std::int64_t etypes = 0, at = 0;
};

}  // namespace ashlar::io
