#pragma once
#include <array>
#include <cstddef>

#include "framework/base/sanitizers.h"
#include "framework/datatype/datatype.h"
#include "framework/datatype/reduce_op.h"

/// Updates of elements by the processor's atomic instructions: atomic beside all others that are made so, with the
/// result of each element fetched in the same step.
namespace ashlar::rma {

/// The elements that such instructions take: without holes, 1, 2, 4 or 8 bytes wide. They must lie at multiples of
/// that.
inline bool atomic_width(const Datatype& element) {
  const auto width = static_cast<std::size_t>(element.size());
  return element.size() == element.extent() && width <= 8 && (width & (width - 1)) == 0 && width != 0;
}

/// target[i] = in[i] op target[i] for `n` elements in a row; out[i] is what was there, unless `out` is nullptr. `in`
/// and `out` may lie anywhere.
using ElementLoop = void (*)(std::byte* target, const std::byte* in, std::byte* out, std::size_t n, const ReduceOp& op,
                             Datatype& element);

/// By operation and Basic; nullptr: element_loop() knows one for the width, if there is any.
using ElementLoops = std::array<std::array<ElementLoop, static_cast<std::size_t>(Basic::kPair) + 1>,
                                static_cast<std::size_t>(ReduceOp::Code::kUser)>;
extern const ElementLoops element_loops;

/// The loop of most pairs; nullptr for rare ones, and for elements without atomic_width().
inline ElementLoop usual_loop(const ReduceOp& op, const Datatype& element) {
  return element_loops[static_cast<std::size_t>(op.code())][static_cast<std::size_t>(element.basic())];
}

/// The loop for a pair that was checked (ReduceOp::check), of an element with atomic_width().
ElementLoop element_loop(const ReduceOp& op, const Datatype& element);

// A read does not wait for ranges: their kernels store aligned elements whole on every processor. The thread sanitizer
// sees stores that are not atomic.
#if defined(ASHLAR_TSAN)
inline constexpr bool kReadsPassRanges = false;
#else
inline constexpr bool kReadsPassRanges = true;
#endif

/// Whether updates of elements by `op` need no turn.
inline bool passes_gate(const ReduceOp& op) { return kReadsPassRanges && op.code() == ReduceOp::Code::kNoOp; }

/// Compare and swap of the `width` bytes at `target`, a multiple of it: 1, 2, 4 or 8. *out: what was there.
void swap_if_equal(std::byte* target, const void* compare, const void* in, void* out, std::size_t width);

}  // namespace ashlar::rma
