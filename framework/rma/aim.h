#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/status.h"
#include "framework/rma/way.h"
#include "framework/rma/window.h"

/// The checks that every operation makes: rank, epoch, range. One look at the window's line and one at the target's.
namespace ashlar::rma {

inline RmaWindow& of(Window& window) { return static_cast<RmaWindow&>(window); }

[[gnu::cold]] Status bad_rank(const RmaWindow& window, const char* argument, int rank);
[[gnu::cold]] Status no_epoch(const RmaWindow& window, Rank target);
[[gnu::cold]] Status bad_place(const RmaWindow& window, const Target& target, MPI_Aint disp, const Place& place);
/// The general case of in_range().
bool touches_only(std::uint64_t size, const Place& place);

/// Whether all bytes that the items touch lie in the first `size` bytes.
inline bool in_range(std::uint64_t size, const Place& place) {
  if (place.type->dense()) [[likely]] {
    std::uint64_t bytes = 0;
    return !__builtin_mul_overflow(static_cast<std::uint64_t>(place.count),
                                   static_cast<std::uint64_t>(place.type->size()), &bytes) &&
           static_cast<std::uint64_t>(place.offset) <= size && bytes <= size - static_cast<std::uint64_t>(place.offset);
  }
  return touches_only(size, place);
}

inline bool is_open(const RmaWindow& window, const Target& target) {
  return window.open_to_all.load(std::memory_order_relaxed) | target.open;
}

/// Finds the target of an operation and where in its window it goes. `*target` is nullptr when there is nothing to do:
/// MPI_PROC_NULL.
inline Status aim(RmaWindow& window, int rank, MPI_Aint disp, Place* place, Target** target) {
  *target = nullptr;
  if (static_cast<std::uint32_t>(rank) >= static_cast<std::uint32_t>(window.ranks)) [[unlikely]] {
    if (rank == MPI_PROC_NULL) return {};
    return bad_rank(window, "target_rank", rank);
  }
  Target* to = window.targets.find(rank);
  if (to == nullptr) [[unlikely]]
    ASHLAR_TRY(window.targets.make(window, rank, &to));
  if (!is_open(window, *to)) [[unlikely]] {
    if (window.epochs.access != AccessEpoch::kFence) return no_epoch(window, rank);
    window.open_to_all.store(true, std::memory_order_relaxed);  // the first operation after the fence makes it an epoch
  }
  if (__builtin_mul_overflow(disp, to->disp_unit, &place->offset) || !in_range(to->size, *place)) [[unlikely]]
    return bad_place(window, *to, disp, *place);
  *target = to;
  return {};
}

/// Whether this process holds the target's lock.
inline bool holds_lock(const RmaWindow& window, Rank rank) {
  const Target* const target = window.targets.find(rank);
  return target != nullptr && target->held != Held::kNothing;
}

/// Request-based operations are for passive target epochs alone (MPI-5.0, 12.3.5).
[[gnu::cold]] Status not_passive(const RmaWindow& window, Rank target);
inline Status check_passive(const RmaWindow& window, int rank) {
  if (window.passive_to_all || rank == MPI_PROC_NULL) return {};
  if (static_cast<std::uint32_t>(rank) < static_cast<std::uint32_t>(window.ranks) && !holds_lock(window, rank))
    return not_passive(window, rank);
  return {};
}

/// Both ends describe as much data: the least that equal signatures mean.
[[gnu::cold]] Status bad_amounts(const char* whose, MPI_Count bytes, MPI_Count wanted);
inline Status check_amounts(const char* whose, MPI_Count count, const Datatype& type, const Place& place) {
  const MPI_Count bytes = count * type.size(), there = place.count * place.type->size();
  if (bytes != there) [[unlikely]]
    return bad_amounts(whose, bytes, there);
  return {};
}

}  // namespace ashlar::rma
