#include "framework/datatype/op_api.h"

#include <cstdint>

#include "framework/base/failure.h"
#include "framework/datatype/datatype.h"
#include "framework/datatype/op_table.h"
#include "framework/datatype/pvars.h"
#include "framework/datatype/reduce_op.h"
#include "framework/object/limit.h"

namespace ashlar::datatype {
namespace {

Status create(ReduceOp::Function function, bool wide, int commute, ReduceOp** op) {
  if (!function) return fail(MPI_ERR_ARG, "argument.null", {{"argument", "user_fn"}});
  *op = make_user_op(commute != 0, function, wide);
  if (!*op) return object::none_left("an operation", ops_alive());
  return {};
}

/// Whether the operands have a byte in common. Of datatypes with gaps that is known for equal addresses alone: columns
/// of one matrix may be combined.
bool overlap(const void* in, const void* inout, MPI_Count count, const Datatype& type) {
  const MPI_Count bytes = count * type.size();
  if (bytes == 0) return false;
  if (in == inout) return true;
  if (!type.dense()) return false;
  const auto a = reinterpret_cast<std::intptr_t>(in), b = reinterpret_cast<std::intptr_t>(inout);
  return a < b ? b - a < bytes : a - b < bytes;
}

}  // namespace

Status op_create(MPI_User_function* function, int commute, ReduceOp** op) {
  return create(reinterpret_cast<ReduceOp::Function>(function), false, commute, op);
}

Status op_create_c(MPI_User_function_c* function, int commute, ReduceOp** op) {
  return create(reinterpret_cast<ReduceOp::Function>(function), true, commute, op);
}

Status op_free(ReduceOp** op) {
  if ((*op)->predefined != 0)
    return fail(MPI_ERR_OP, "object.predefined", {{"argument", "op"}, {"value", (*op)->name()}});
  release(*op);
  *op = nullptr;
  return {};
}

Status op_commutative(ReduceOp& op, int* commute) {
  *commute = op.commutative();
  return {};
}

Status reduce_local(const void* in, void* inout, MPI_Count count, Datatype& type, ReduceOp& op) {
  ASHLAR_TRY(op.check(type));
  if (overlap(in, inout, count, type))
    return fail(MPI_ERR_BUFFER, "buffer.overlap", {{"argument", "inbuf"}, {"other", "inoutbuf"}, {"count", count}});
  if (op.code() == ReduceOp::Code::kUser) ASHLAR_TRY(check_committed(type));
  op.apply(in, inout, count, type);
  return {};
}

}  // namespace ashlar::datatype
