#pragma once
#include <mpi.h>

#include <cstddef>

namespace ashlar {

/// A caller's array of counts or displacements, of int (small form) or 64-bit (large form) elements. A view: the
/// caller's array must live as long as the operation, as the standard asks of it.
class IntArray {
 public:
  IntArray() = default;
  IntArray(const int* values) : values_(values), wide_(false) {}       // NOLINT: the generated code converts
  IntArray(const MPI_Count* values) : values_(values), wide_(true) {}  // NOLINT
  MPI_Count operator[](std::size_t i) const {
    return wide_ ? static_cast<const MPI_Count*>(values_)[i] : static_cast<const int*>(values_)[i];
  }
  explicit operator bool() const { return values_ != nullptr; }
  bool wide() const { return wide_; }

 private:
  const void* values_ = nullptr;
  bool wide_ = false;
};

static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count) && sizeof(MPI_Count) == 8);

}  // namespace ashlar
