#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/datatype/reduce_op.h"
#include "framework/rma/aim.h"
#include "framework/rma/apply.h"
#include "framework/rma/elements.h"
#include "framework/rma/guard.h"
#include "framework/rma/range_gate.h"
#include "framework/rma/whole.h"

/// The short path of operations: one dense datatype at both ends, an open epoch, memory that this process maps. Each
/// test asks only whether all is as usual. Where it is not, the long path finds out what is different, or wrong.
namespace ashlar::rma {

/// The target, if an epoch to it is open.
inline Target* usual_target(RmaWindow& window, int rank) {
  if (static_cast<std::uint32_t>(rank) >= static_cast<std::uint32_t>(window.ranks)) [[unlikely]]
    return nullptr;
  Target* const to = window.targets.find(rank);
  return to != nullptr && is_open(window, *to) ? to : nullptr;
}

/// Where `bytes` at the displacement lie here, if they lie in the window and are mapped.
inline std::byte* usual_place(const Target& to, MPI_Aint disp, MPI_Count bytes) {
  MPI_Aint offset = 0;
  if (to.memory == nullptr || __builtin_mul_overflow(disp, to.disp_unit, &offset)) [[unlikely]]
    return nullptr;
  const auto first = static_cast<std::uint64_t>(offset);
  return first <= to.size && static_cast<std::uint64_t>(bytes) <= to.size - first ? to.memory + first : nullptr;
}

/// The bytes of as many items of one dense datatype at both ends.
inline bool usual_bytes(MPI_Count count, const Datatype& type, MPI_Count target_count, const Datatype& target_type,
                        MPI_Count* bytes) {
  return &type == &target_type && count == target_count && type.dense() &&
         !__builtin_mul_overflow(count, type.size(), bytes);
}

/// Updates `count` elements in a row of a datatype at both ends, which have atomic instructions. `result`: where the
/// elements go that were there, or nullptr. False: something is different.
[[gnu::always_inline]] inline bool update_usual(RmaWindow& window, const void* origin, void* result, MPI_Count count,
                                                Datatype& type, int rank, MPI_Aint disp, const ReduceOp& op) {
  MPI_Count bytes = 0;
  Target* const to = usual_target(window, rank);
  if (to == nullptr || !op.takes(type) || !usual_bytes(count, type, count, type, &bytes)) return false;
  const ElementLoop loop = usual_loop(op, type);
  if (loop == nullptr || to->guard == nullptr || to->guard->kind != Guard::Kind::kElements) return false;
  std::byte* const at = usual_place(*to, disp, bytes);
  if (at == nullptr || !is_aligned(at, static_cast<std::size_t>(type.size()))) return false;
  const auto* const in = static_cast<const std::byte*>(origin);
  auto* const out = static_cast<std::byte*>(result);
  if (count != 1) {
    apply_row(*to->guard, op, type, at, in, out, static_cast<std::size_t>(count));
  } else if (passes_gate(op)) {
    loop(at, in, out, 1, op, type);
  } else {
    const ElementTurn turn(*to->guard);
    loop(at, in, out, 1, op, type);
  }
  return true;
}

/// MPI_Compare_and_swap of an element for which there are atomic instructions.
[[gnu::always_inline]] inline bool swap_usual(RmaWindow& window, const void* origin, const void* compare, void* result,
                                              const Datatype& type, int rank, MPI_Aint disp) {
  Target* const to = usual_target(window, rank);
  if (to == nullptr || to->guard == nullptr || to->guard->kind != Guard::Kind::kElements || !atomic_width(type))
    return false;
  const auto width = static_cast<std::size_t>(type.size());
  std::byte* const at = usual_place(*to, disp, type.size());
  if (at == nullptr || !is_aligned(at, width)) return false;
  const ElementTurn turn(*to->guard);
  swap_if_equal(at, compare, origin, result, width);
  return true;
}

}  // namespace ashlar::rma
