// MPI_Pack and MPI_Unpack: the packed form is what travels on the wire.
#include "framework/datatype/api.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/packed_room.h"

namespace ashlar::datatype {
namespace {

Status packed_bytes(MPI_Count count, const Datatype& type, MPI_Count* bytes) {
  if (count < 0)
    return Status::fail(MPI_ERR_COUNT, "the count is %lld; it must not be negative", static_cast<long long>(count));
  if (__builtin_mul_overflow(count, type.size(), bytes))
    return Status::fail(MPI_ERR_COUNT, "%lld items of %s are more bytes than 64 bits can count",
                        static_cast<long long>(count), type.described());
  return {};
}

}  // namespace

Status pack(const void* inbuf, MPI_Count incount, Datatype& type, void* outbuf, MPI_Count outsize, MPI_Count* position,
            Comm&) {
  ASHLAR_TRY(check_committed(type));
  MPI_Count bytes;
  ASHLAR_TRY(packed_bytes(incount, type, &bytes));
  ASHLAR_TRY(check_packed_room("output buffer", outsize, *position, bytes));
  pack(DataView::of(inbuf, incount, type), 0, static_cast<char*>(outbuf) + *position, static_cast<std::size_t>(bytes));
  *position += bytes;
  return {};
}

Status unpack(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
              Datatype& type, Comm&) {
  ASHLAR_TRY(check_committed(type));
  MPI_Count bytes;
  ASHLAR_TRY(packed_bytes(outcount, type, &bytes));
  ASHLAR_TRY(check_packed_room("input buffer", insize, *position, bytes));
  unpack(DataView{outbuf, outcount, &type}, 0, static_cast<const char*>(inbuf) + *position,
         static_cast<std::size_t>(bytes));
  *position += bytes;
  return {};
}

Status pack_size(MPI_Count incount, Datatype& type, Comm&, MPI_Count* size) {
  return packed_bytes(incount, type, size);
}

}  // namespace ashlar::datatype
