#pragma once
#include <mpi.h>

namespace ashlar::datatype {

/// The indices of one dimension of a distributed array that one process holds (MPI-5.0, 5.1.4): `full` blocks of
/// `block` indices, `period` apart from `first` on, then a last block of `rest`.
struct Distribution {
  MPI_Count first = 0, block = 0, full = 0, rest = 0, period = 0;

  MPI_Count indices() const { return full * block + rest; }
  MPI_Count last() const {
    return rest > 0 ? first + full * period + rest - 1 : first + (full - 1) * period + block - 1;
  }

  /// `size` indices over `processes`; `argument` is the block size or MPI_DISTRIBUTE_DFLT_DARG. Valid arguments.
  static Distribution of(MPI_Count size, int kind, MPI_Count argument, int processes, int coordinate) {
    Distribution d;
    if (kind == MPI_DISTRIBUTE_NONE) return {0, size, 1, 0, size};
    if (argument == MPI_DISTRIBUTE_DFLT_DARG)
      argument = kind == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
    d.first = coordinate * argument;
    d.block = argument;
    d.period = argument * processes;
    if (d.first >= size) return {};
    const MPI_Count left = size - d.first;
    d.full = left / d.period;
    const MPI_Count tail = left % d.period;
    if (tail >= argument) {
      ++d.full;
    } else {
      d.rest = tail;
    }
    return d;
  }
};

/// The process grid is row-major whatever the order of the array: the coordinate in dimension `d`.
template <class Sizes>
inline int grid_coordinate(int rank, int dimensions, const Sizes& grid, int d) {
  for (int k = dimensions - 1; k > d; --k) rank /= static_cast<int>(grid[k]);
  return rank % static_cast<int>(grid[d]);
}

}  // namespace ashlar::datatype
