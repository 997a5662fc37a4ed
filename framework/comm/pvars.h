#pragma once
#include <atomic>
#include <cstdint>
#include <span>

#include "framework/base/counter.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::comm {

/// What the process counts of its communicators; any thread.
struct Counters {
  std::atomic<std::uint64_t> made{0}, made_inter{0}, freed{0}, freed_later{0}, named{0};
};
extern constinit Counters counters;
/// Communicators that exist.
const Counter& alive();
/// Requests of MPI_Comm_idup and its like: of duplications that are agreed upon, and of those that were at once.
std::uint64_t duplications();

/// The block is `counters`.
extern const std::span<const ashlar_pvar_row> process_rows;

}  // namespace ashlar::comm
