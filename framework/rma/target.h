#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "framework/base/types.h"

namespace ashlar::rma {

struct Guard;
struct Way;

/// What this process holds of a target's lock.
enum class Held : std::uint8_t { kNothing, kShared, kExclusive, kUnchecked };

/// What this process knows of one rank's memory in a window.
struct alignas(kCacheLine) Target {
  // --- short path ---
  /// An access epoch is open to this rank alone (MPI_Win_lock, MPI_Win_start). RmaWindow::open_to_all has the others.
  bool open = false;
  Held held = Held::kNothing;
  std::uint8_t lock_form = 0;   // of the Sync: how its lock is held, or was left
  bool outstanding = false;     // something that a flush must wait for may be under way (ways that are not mapped)
  Rank rank = 0;                // in the window's group
  std::byte* memory = nullptr;  // where its window begins here, for loads and stores; nullptr: not reachable so
  std::uint64_t size = 0;       // bytes. Of a dynamic window 2^63 - 1: regions are checked instead
  MPI_Aint disp_unit = 1;
  const Way* copies = nullptr;   // of put and get; never null in an entry of a rank
  const Way* updates = nullptr;  // of the accumulate family
  const void* state = nullptr;   // of whatever the ways belong to
  const Guard* guard = nullptr;  // of `memory`, where this process updates it itself; nullptr: `updates` alone can
};

}  // namespace ashlar::rma
