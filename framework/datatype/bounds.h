#pragma once
#include <mpi.h>

#include <cstdint>

namespace ashlar::datatype {

/// Where a type map lies (MPI-5.0, 5.1.6 and 5.1.7): the range of its data, the strictest alignment in it, and the
/// explicit bounds set by MPI_Type_create_resized, which stick: once any part has one, only explicit ones count.
struct Bounds {
  MPI_Count data_lb = 0, data_ub = 0;  // meaningful when has_data
  MPI_Count mark_lb = 0, mark_ub = 0;  // meaningful when has_mark_lb / has_mark_ub
  std::int32_t align = 1;
  bool has_data = false, has_mark_lb = false, has_mark_ub = false;

  MPI_Count lb() const { return has_mark_lb ? mark_lb : has_data ? data_lb : 0; }
  /// Without an explicit bound the extent is rounded up to the alignment (the standard's epsilon).
  MPI_Count ub() const;
  MPI_Count true_lb() const { return has_data ? data_lb : 0; }
  MPI_Count true_extent() const { return has_data ? data_ub - data_lb : 0; }

  /// Joins `part` placed at every displacement in [first, last]: the two ends decide. False on overflow.
  bool join(const Bounds& part, MPI_Count first, MPI_Count last);
};

}  // namespace ashlar::datatype
