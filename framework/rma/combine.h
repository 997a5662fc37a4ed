#pragma once
#include <cstddef>

#include "framework/datatype/data_view.h"
#include "framework/rma/way.h"

/// What operations compute, by the kernels of reductions and without protection: for a process that has made sure that
/// no other updates the same memory.
namespace ashlar::rma {

/// inout[i] = in[i] op inout[i] for `n` elements without gaps between them, as they are packed. Both may lie anywhere;
/// aligned elements are stored whole. `in` is not looked at by MPI_NO_OP.
void combine_packed(const ReduceOp& op, Datatype& element, const std::byte* in, std::byte* inout, std::size_t n);

/// What `u` does to packed bytes [first, first + bytes) of `target`, whole elements. `in` and `out`: as in
/// each_piece().
void combine(const Update& u, const DataView& target, std::size_t first, std::size_t bytes, const std::byte* in,
             std::byte* out);

}  // namespace ashlar::rma
