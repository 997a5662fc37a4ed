#pragma once
#include <mpi.h>

#include <cstddef>

#include "framework/base/status.h"
#include "framework/datatype/datatype.h"

namespace ashlar {
class Comm;
}  // namespace ashlar

/// MPI_Pack and MPI_Unpack: the packed form is what travels on the wire. Inline, because the way to the loop is a good
/// part of what a small message costs.
namespace ashlar::datatype {

/// `count` items, whose `bytes` > 0 packed bytes the caller knows.
void pack_all(const void* data, MPI_Count count, const Datatype& type, void* to, std::size_t bytes);
void unpack_all(void* data, MPI_Count count, const Datatype& type, const void* from, std::size_t bytes);

/// Finds out what is not in order with a call that packing_fits() refused.
[[gnu::cold]] Status refuse_packing(MPI_Count count, const Datatype& type, const char* what, MPI_Count size,
                                    MPI_Count position);

/// Whether the call can be served here; a few instructions.
inline bool packing_fits(MPI_Count count, const Datatype& type, MPI_Count size, MPI_Count position, MPI_Count* bytes) {
  return type.committed() && count >= 0 && !__builtin_mul_overflow(count, type.size(), bytes) && position >= 0 &&
         position <= size && *bytes <= size - position;
}

inline Status pack(const void* inbuf, MPI_Count incount, Datatype& type, void* outbuf, MPI_Count outsize,
                   MPI_Count* position, Comm&) {
  MPI_Count bytes;
  const MPI_Count at = *position;
  if (!packing_fits(incount, type, outsize, at, &bytes)) [[unlikely]]
    return refuse_packing(incount, type, "output buffer", outsize, at);
  if (bytes > 0) pack_all(inbuf, incount, type, static_cast<char*>(outbuf) + at, static_cast<std::size_t>(bytes));
  *position = at + bytes;
  return {};
}

inline Status unpack(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
                     Datatype& type, Comm&) {
  MPI_Count bytes;
  const MPI_Count at = *position;
  if (!packing_fits(outcount, type, insize, at, &bytes)) [[unlikely]]
    return refuse_packing(outcount, type, "input buffer", insize, at);
  if (bytes > 0)
    unpack_all(outbuf, outcount, type, static_cast<const char*>(inbuf) + at, static_cast<std::size_t>(bytes));
  *position = at + bytes;
  return {};
}

}  // namespace ashlar::datatype
