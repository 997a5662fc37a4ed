#include "framework/base/failure.h"
#include "framework/datatype/api.h"
#include "framework/datatype/measures.h"
#include "framework/datatype/packed_room.h"

namespace ashlar::datatype {
namespace {

Status packed_bytes(MPI_Count count, const Datatype& type, MPI_Count* bytes) {
  ASHLAR_TRY(check_count(count, "incount"));
  if (__builtin_mul_overflow(count, type.size(), bytes))
    return fail(MPI_ERR_COUNT, "type.too_many_bytes", {{"count", count}, {"type", type.described()}});
  return {};
}

}  // namespace

Status refuse_packing(MPI_Count count, const Datatype& type, const char* what, MPI_Count size, MPI_Count position) {
  ASHLAR_TRY(check_committed(type));
  MPI_Count bytes = 0;
  ASHLAR_TRY(packed_bytes(count, type, &bytes));
  return check_packed_room(what, size, position, bytes);
}

Status pack_size(MPI_Count incount, Datatype& type, Comm&, MPI_Count* size) {
  return packed_bytes(incount, type, size);
}

}  // namespace ashlar::datatype
