#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "framework/base/counter.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::datatype {

/// What the cache of compiled forms counts under its mutex, for the whole process; the rows describe this block.
struct LayoutCounters {
  Counter alive, made, shared;
};
extern constinit LayoutCounters layout_counters;

/// What the process counts of its datatypes; any thread. The block of type_rows.
struct TypeCounters {
  std::atomic<std::uint64_t> committed{0}, freed{0};
};
extern constinit TypeCounters type_counters;
extern const std::span<const ashlar_pvar_row> type_rows;
/// Datatypes and operations that exist.
const Counter& types_alive();
const Counter& ops_alive();

inline constexpr ashlar_pvar_row kPvars[] = {
    plugin::pvar("layouts", "compiled forms of datatypes that exist", ASHLAR_PVAR_LEVEL,
                 offsetof(LayoutCounters, alive)),
    plugin::pvar("layouts_made", "compiled forms made so far, parts of others included", ASHLAR_PVAR_COUNTER,
                 offsetof(LayoutCounters, made)),
    plugin::pvar("layouts_shared", "of those, how many turned out to be there already and were shared",
                 ASHLAR_PVAR_COUNTER, offsetof(LayoutCounters, shared)),
};

}  // namespace ashlar::datatype
