#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::memory {

/// The values of alloc_mem, in the order of the names.
enum AllocMem : std::int32_t { kFromHeap, kPrivate };
inline constexpr const char* kAllocMem[] = {"heap", "private", nullptr};

/// Parameters memory.*; the rows describe this block. The values here hold before MPI_Init.
struct Config {
  std::int32_t alloc_mem = kFromHeap;
  std::uint64_t heap_reserve = 0;  // bytes; 0: by the machine
  std::uint64_t heap_limit = 0;    // bytes; 0: all that is reserved
  std::uint64_t heap_keep = std::uint64_t{64} << 20;
  std::uint64_t claim_below = std::uint64_t{1} << 20;
};

inline constexpr const char* kReserveRange[] = {"0", "64TiB", nullptr};
inline constexpr const char* kBytesRange[] = {"0", "1024TiB", nullptr};

inline constexpr ashlar_param kParams[] = {
    {"alloc_mem", "heap",
     "Where MPI_Alloc_mem takes memory from: the heap, which other processes of the node can map, or memory of the "
     "process alone, which one-sided communication has to copy. After a fork, memory of the heap is shared by parent "
     "and "
     "child.",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, alloc_mem),
     kAllocMem},
    {"heap_reserve", "0",
     "Address space for the heap of each process; memory is used only as far as it is touched. 0: twice the physical "
     "memory, or less where the processes of a node could not map each other's heaps then.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, heap_reserve),
     kReserveRange},
    {"heap_limit", "0",
     "The most memory that a process has allocated in its heap at one time. 0: no limit but heap_reserve.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, heap_limit),
     kBytesRange},
    {"heap_keep", "64MiB",
     "Freed memory that the heap keeps for the next allocations; what is beyond it goes back to the system.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, heap_keep),
     kBytesRange},
    {"claim_below", "1MiB",
     "Smaller allocations in the heap get their memory at once, larger ones as they are touched, when the machine and "
     "the control group have so much.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, claim_below),
     kBytesRange},
};

}  // namespace ashlar::memory
