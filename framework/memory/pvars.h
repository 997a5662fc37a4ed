#pragma once
#include <cstddef>

#include "framework/base/counter.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::memory {

/// What the heap counts under its mutex; the rows describe this block.
struct HeapCounters {
  MarkedLevel bytes;
  Counter blocks, kept, reserved, limit, refused;
};
extern constinit HeapCounters heap_counters;

inline constexpr ashlar_pvar_row kPvars[] = {
    plugin::pvar("heap_size", "bytes that are allocated in the heap, which other processes of the node can map",
                 ASHLAR_PVAR_LEVEL, offsetof(HeapCounters, bytes.now), ASHLAR_USER_BASIC),
    plugin::pvar("heap_peak", "the most such bytes at one time", ASHLAR_PVAR_HIGHWATERMARK,
                 offsetof(HeapCounters, bytes.most), ASHLAR_USER_BASIC),
    plugin::pvar("heap_blocks", "blocks that these bytes are in", ASHLAR_PVAR_LEVEL, offsetof(HeapCounters, blocks)),
    plugin::pvar("heap_kept", "bytes of freed memory that the heap keeps (memory.heap_keep)", ASHLAR_PVAR_LEVEL,
                 offsetof(HeapCounters, kept)),
    plugin::pvar("heap_reserved", "bytes of address space that the heap has (memory.heap_reserve); 0: there is no heap",
                 ASHLAR_PVAR_LEVEL, offsetof(HeapCounters, reserved)),
    plugin::pvar("heap_limit", "the most bytes that may be allocated in it (memory.heap_limit)", ASHLAR_PVAR_LEVEL,
                 offsetof(HeapCounters, limit)),
    plugin::pvar("heap_refused", "allocations that the heap refused", ASHLAR_PVAR_COUNTER,
                 offsetof(HeapCounters, refused), ASHLAR_USER_BASIC),
};

}  // namespace ashlar::memory
