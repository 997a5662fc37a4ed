#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "components/rma/am/message.h"
#include "framework/rma/way.h"

namespace ashlar::rma::am {

/// Lists where the packed bytes of `place` from `first` on lie in the target's window, at most `most` of them, in whole
/// elements. `first` is at the beginning of an element. Returns how many runs it made; `*bytes`: how much data they
/// have. Not 0 while an element is left, fits into `most`, and `out` is not empty.
std::size_t list_runs(const Place& place, const Datatype& element, std::uint64_t first, std::uint64_t most,
                      std::span<Run> out, std::uint64_t* bytes);

/// The highest byte that a run touches, plus 1, less its offset.
std::uint64_t reach_of(const Run& run, const Datatype& element);

}  // namespace ashlar::rma::am
