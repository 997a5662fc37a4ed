#include <mutex>

#include "framework/datatype/contents.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/fortran_sizes.h"
#include "framework/datatype/op_table.h"
#include "framework/datatype/reduce_op.h"
#include "framework/object/handle.h"

namespace ashlar::datatype {
namespace {

template <class Handle>
std::uintptr_t bits(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

}  // namespace

Datatype& predefined(MPI_Datatype constant) { return *static_cast<Datatype*>(predefined_objects[bits(constant)]); }
ReduceOp& predefined_op(MPI_Op constant) { return *static_cast<ReduceOp*>(predefined_objects[bits(constant)]); }

void register_predefined() {
  static std::once_flag once;
  std::call_once(once, [] {
    choose_kernels();
    for (const BasicRow& row : basic_rows()) predefined_objects[bits(row.handle)] = Builder::predefined(row);
    for (const OpRow& row : op_rows()) predefined_objects[bits(row.handle)] = make_predefined_op(row);
  });
}

void fit_predefined(const BasicRow& row) {
  if (auto* type = static_cast<Datatype*>(predefined_objects[bits(row.handle)])) Builder::fit(*type, row);
}

}  // namespace ashlar::datatype
