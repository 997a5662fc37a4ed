#pragma once
#include <mpi.h>

#include "framework/base/status.h"

/// The calls on MPI_Op (MPI-5.0, 6.9): arguments in the standard's order, handles resolved.
namespace ashlar {
class Datatype;
class ReduceOp;
}  // namespace ashlar
namespace ashlar::datatype {

Status op_create(MPI_User_function* function, int commute, ReduceOp** op);
Status op_create_c(MPI_User_function_c* function, int commute, ReduceOp** op);
Status op_free(ReduceOp** op);
Status op_commutative(ReduceOp& op, int* commute);
Status reduce_local(const void* in, void* inout, MPI_Count count, Datatype& type, ReduceOp& op);

}  // namespace ashlar::datatype
