#pragma once
#include <mpi.h>

#include "framework/datatype/reduce_op.h"

/// MPI_MINLOC and MPI_MAXLOC on pairs that have no constant (MPI_Type_get_value_index): one loop per type of value, the
/// index read as it comes. The named pairs have kernels of their own.
namespace ashlar::datatype {

/// Whether there is such a reduction for this value and index.
bool pair_reduces(const Datatype& value, const Datatype& index);

/// out[i] = a[i] op b[i]; `code` is kMinloc or kMaxloc, `type` a pair for which pair_reduces() holds.
void reduce_pairs(ReduceOp::Code code, const Datatype& type, const void* a, const void* b, void* out, MPI_Count count);

}  // namespace ashlar::datatype
