#pragma once
#include <mpi.h>

#include <cstddef>

#include "framework/datatype/kernel_table.h"
#include "framework/datatype/reduce_op.h"

namespace ashlar::datatype {

/// One predefined operation.
struct OpRow {
  MPI_Op handle;
  const char* name;
  ReduceOp::Code code;
};
struct OpRows {
  const OpRow* first;
  std::size_t count;
  const OpRow* begin() const { return first; }
  const OpRow* end() const { return first + count; }
};
OpRows op_rows();
ReduceOp* make_predefined_op(const OpRow& row);
ReduceOp* make_user_op(bool commutative, ReduceOp::Function function, bool wide);  // nullptr: no memory

/// Fills the kernel table for this machine. Once, before any reduction.
void choose_kernels();
/// nullptr when the standard does not allow the pair.
Kernel kernel_of(ReduceOp::Code code, const Datatype& type);

}  // namespace ashlar::datatype
