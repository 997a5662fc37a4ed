#pragma once
#include <atomic>
#include <cstdint>
#include <span>

#include "framework/plugin/pvar_row.h"

namespace ashlar::rma {

/// The windows and requests that exist; the block is an Engine.
extern const std::span<const ashlar_pvar_row> pool_rows;

/// What all windows count, on any thread.
struct Counters {
  std::atomic<std::uint64_t> gates_closed{0};
};
extern constinit Counters counters;
extern const std::span<const ashlar_pvar_row> counter_rows;

}  // namespace ashlar::rma
