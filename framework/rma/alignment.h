#pragma once
#include <cstddef>

#include "framework/datatype/data_view.h"

namespace ashlar::rma {

/// Whether every run of `view` begins at a multiple of `width`, a power of two. At most the time that packing one item
/// takes.
bool all_aligned(const DataView& view, std::size_t width);

}  // namespace ashlar::rma
