#pragma once
#include <mpi.h>

#include <cstring>
#include <string>

namespace ashlar {

/// Names that users give objects (MPI-5.0, 7.8). Too long a name is cut, as the standard lets names be.
inline void assign_name(std::string& own, const char* name) {
  own.assign(name, strnlen(name, MPI_MAX_OBJECT_NAME - 1));
}

inline void copy_name(const char* own, char* name, int* length) {
  *length = static_cast<int>(std::strlen(own));
  std::memcpy(name, own, static_cast<std::size_t>(*length) + 1);
}

}  // namespace ashlar
