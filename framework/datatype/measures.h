#pragma once
#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/base/status.h"
#include "framework/datatype/bounds.h"
#include "framework/datatype/datatype.h"
#include "framework/datatype/signature.h"

namespace ashlar::datatype {

/// Size, bounds and signature of a new datatype, which its constructor derives without visiting single elements.
/// Arithmetic that leaves 64 bits is recorded, and reported once, by finish().
class Measures {
 public:
  /// Items of `type` at displacements of which `first` and `last` are the lowest and the highest.
  void add(const Datatype& type, MPI_Count items, MPI_Count first, MPI_Count last) {
    if (items == 0) return;
    MPI_Count bytes;
    fits_ = fits_ && bounds.join(type.bounds(), first, last) && !__builtin_mul_overflow(items, type.size(), &bytes) &&
            !__builtin_add_overflow(size, bytes, &size);
    if (fits_) signature = signature.then(type.signature().repeated(items));
  }
  /// `items` in a row from `at` on.
  void add_row(const Datatype& type, MPI_Count items, MPI_Count at) {
    if (items > 0) add(type, items, at, plus(at, times(items - 1, type.extent())));
  }
  MPI_Count times(MPI_Count a, MPI_Count b) {
    MPI_Count r = 0;
    fits_ = !__builtin_mul_overflow(a, b, &r) && fits_;
    return r;
  }
  MPI_Count plus(MPI_Count a, MPI_Count b) {
    MPI_Count r = 0;
    fits_ = !__builtin_add_overflow(a, b, &r) && fits_;
    return r;
  }
  void explicit_bounds(MPI_Count lb, MPI_Count extent) {
    bounds.has_mark_lb = bounds.has_mark_ub = true;
    bounds.mark_lb = lb;
    bounds.mark_ub = plus(lb, extent);
  }
  Status finish() const {
    if (fits_) return {};
    return fail(MPI_ERR_ARG, "type.too_large");
  }

  Bounds bounds;
  MPI_Count size = 0;
  Signature signature;

 private:
  bool fits_ = true;
};

inline Status check_count(MPI_Count count, const char* name) {
  if (count >= 0) return {};
  return fail(MPI_ERR_COUNT, "argument.value", {{"argument", name}, {"value", count}, {"wanted", "0 or more"}});
}

}  // namespace ashlar::datatype
