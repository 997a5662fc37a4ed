#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "framework/base/counter.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::memory {

/// What the heap counts under its mutex; the rows describe this block.
struct HeapCounters {
  MarkedLevel bytes;
  Counter blocks, kept, reserved, limit, refused;
  Counter least_free;

  void limit_is(std::uint64_t most) {
    limit.set(most);
    least_free.set(free());
  }
  void raise(std::uint64_t block) {
    bytes.raise(block);
    least_free.set(std::min(least_free.get(), free()));
  }
  std::uint64_t free() const { return std::max(limit.get(), bytes.now.get()) - bytes.now.get(); }
  /// Any thread, as every reader of the words.
  double share() const {
    const std::uint64_t most = limit.get(), used = std::min(bytes.now.get(), most);
    return most == 0 ? 0 : static_cast<double>(used) / static_cast<double>(most);
  }
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
    plugin::pvar("heap_least_free",
                 "the least bytes below heap_limit that were free at one time, since it has been set",
                 ASHLAR_PVAR_LOWWATERMARK, offsetof(HeapCounters, least_free)),
    plugin::computed_pvar(
        "heap_share", "share of heap_limit that is allocated", ASHLAR_PVAR_PERCENTAGE,
        [](const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
          const double share = static_cast<const HeapCounters*>(block)->share();
          values[0] = std::bit_cast<std::uint64_t>(share);
        }),
};

}  // namespace ashlar::memory
