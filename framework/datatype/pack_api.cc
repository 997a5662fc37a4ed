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

// Whether all is in order, told in a few instructions; refuse() finds out what is not.
bool fits(MPI_Count count, const Datatype& type, MPI_Count size, MPI_Count position, MPI_Count* bytes) {
  return type.committed() && count >= 0 && !__builtin_mul_overflow(count, type.size(), bytes) && position >= 0 &&
         position <= size && *bytes <= size - position;
}

[[gnu::cold]] Status refuse(MPI_Count count, const Datatype& type, const char* what, MPI_Count size,
                            MPI_Count position) {
  ASHLAR_TRY(check_committed(type));
  MPI_Count bytes = 0;
  ASHLAR_TRY(packed_bytes(count, type, &bytes));
  return check_packed_room(what, size, position, bytes);
}

}  // namespace

Status pack(const void* inbuf, MPI_Count incount, Datatype& type, void* outbuf, MPI_Count outsize, MPI_Count* position,
            Comm&) {
  MPI_Count bytes;
  if (!fits(incount, type, outsize, *position, &bytes)) [[unlikely]]
    return refuse(incount, type, "output buffer", outsize, *position);
  if (bytes > 0)
    pack_all(DataView::of(inbuf, incount, type), static_cast<char*>(outbuf) + *position,
             static_cast<std::size_t>(bytes));
  *position += bytes;
  return {};
}

Status unpack(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
              Datatype& type, Comm&) {
  MPI_Count bytes;
  if (!fits(outcount, type, insize, *position, &bytes)) [[unlikely]]
    return refuse(outcount, type, "input buffer", insize, *position);
  if (bytes > 0)
    unpack_all(DataView{outbuf, outcount, &type}, static_cast<const char*>(inbuf) + *position,
               static_cast<std::size_t>(bytes));
  *position += bytes;
  return {};
}

Status pack_size(MPI_Count incount, Datatype& type, Comm&, MPI_Count* size) {
  return packed_bytes(incount, type, size);
}

}  // namespace ashlar::datatype
