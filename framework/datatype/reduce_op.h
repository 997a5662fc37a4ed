#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/status.h"
#include "framework/datatype/datatype.h"
#include "framework/object/object.h"

namespace ashlar {

/// The object behind an MPI_Op: one of the standard's operations, or a user's function.
class ReduceOp : public Object {
 public:
  /// The standard's operations, in the order of the kernel table.
  enum class Code : std::uint8_t {
    kSum,
    kMin,
    kMax,
    kProd,
    kBand,
    kBor,
    kBxor,
    kLand,
    kLor,
    kLxor,
    kMinloc,
    kMaxloc,
    kReplace,
    kNoOp,
    kUser
  };
  using Function = void (*)();  // MPI_User_function or MPI_User_function_c

  ReduceOp(Code code, bool commutative, Function function, bool wide)
      : Object(Kind::kReduceOp), code_(code), commutative_(commutative), wide_(wide), function_(function) {}

  bool commutative() const { return commutative_; }
  Code code() const { return code_; }
  const char* name() const;

  /// Ok when this operation may be used with `type`; else MPI_ERR_OP with a sentence that names both.
  Status check(const Datatype& type) const;

  /// inout[i] = in[i] op inout[i]. The pair was checked. User functions are called with the datatype's own handle, in
  /// pieces of at most INT_MAX items when they count in int.
  void apply(const void* in, void* inout, MPI_Count count, Datatype& type) const;

  /// out[i] = a[i] op b[i]: saves the copy that apply() would need. `out` may equal `b`; other overlaps are not
  /// allowed. The pair was checked.
  void apply3(const void* a, const void* b, void* out, MPI_Count count, Datatype& type) const;

 private:
  Code code_;
  bool commutative_;
  bool wide_;
  Function function_;
};

void destroy(ReduceOp* op);

namespace datatype {
/// The object of a predefined constant such as MPI_SUM. After register_predefined().
ReduceOp& predefined_op(MPI_Op constant);
}  // namespace datatype
}  // namespace ashlar
