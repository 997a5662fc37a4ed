// Constructors for parts of arrays: subarray and darray.
#include "framework/datatype/api.h"
#include "framework/datatype/contents.h"
#include "framework/datatype/distribution.h"
#include "framework/datatype/shape.h"

namespace ashlar::datatype {
namespace {

using What = Contents::What;

Status check_array(int ndims, int order) {
  if (ndims < 1) return Status::fail(MPI_ERR_ARG, "the number of dimensions is %d; it must be positive", ndims);
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
    return Status::fail(MPI_ERR_ARG, "the order is %d; it must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
  return {};
}

Status bad_dimension(const char* what, int dimension, MPI_Count value, const char* rule) {
  return Status::fail(MPI_ERR_ARG, "%s in dimension %d is %lld; it must be %s", what, dimension,
                      static_cast<long long>(value), rule);
}

}  // namespace

Status create_subarray(int ndims, IntArray sizes, IntArray subsizes, IntArray starts, int order, Datatype& oldtype,
                       Datatype** newtype) {
  ASHLAR_TRY(check_array(ndims, order));
  return guarded([&] {
    const auto n = static_cast<std::size_t>(ndims);
    Contents c;
    c.combiner = MPI_COMBINER_SUBARRAY;
    c.add(What::kInt, ndims);
    c.add(What::kCount, sizes, n);
    c.add(What::kCount, subsizes, n);
    c.add(What::kCount, starts, n);
    c.add(What::kInt, order);
    Shape shape;
    MPI_Count step = oldtype.extent(), items = 1, low = 0, high = 0;
    for (int k = 0; k < ndims; ++k) {
      const int dimension = order == MPI_ORDER_FORTRAN ? k : ndims - 1 - k;
      const auto d = static_cast<std::size_t>(dimension);
      if (sizes[d] < 1) return bad_dimension("the size", dimension, sizes[d], "positive");
      if (subsizes[d] < 1 || subsizes[d] > sizes[d])
        return bad_dimension("the subsize", dimension, subsizes[d], "between 1 and the size");
      if (starts[d] < 0 || starts[d] > sizes[d] - subsizes[d])
        return bad_dimension("the start", dimension, starts[d], "between 0 and the size minus the subsize");
      items = shape.times(items, subsizes[d]);
      low = shape.plus(low, shape.times(starts[d], step));
      high = shape.plus(high, shape.times(starts[d] + subsizes[d] - 1, step));
      step = shape.times(step, sizes[d]);
    }
    shape.add(oldtype, items, low, high);
    shape.explicit_bounds(0, step);
    ASHLAR_TRY(shape.finish());
    c.types.push_back(Ref<Datatype>::share(oldtype));
    return Builder::make(std::move(c), shape.bounds, shape.size, shape.signature, newtype);
  });
}

Status create_darray(int size, int rank, int ndims, IntArray gsizes, const int* distribs, const int* dargs,
                     const int* psizes, int order, Datatype& oldtype, Datatype** newtype) {
  ASHLAR_TRY(check_array(ndims, order));
  MPI_Count processes = 1;
  for (int d = 0; d < ndims; ++d) {
    const MPI_Count global = gsizes[static_cast<std::size_t>(d)];
    if (global < 1) return bad_dimension("the size", d, global, "positive");
    if (psizes[d] < 1) return bad_dimension("the number of processes", d, psizes[d], "positive");
    const bool fallback = dargs[d] == MPI_DISTRIBUTE_DFLT_DARG;
    switch (distribs[d]) {
      case MPI_DISTRIBUTE_NONE:
        if (psizes[d] != 1)
          return bad_dimension("the number of processes", d, psizes[d], "1 where nothing is shared out");
        break;
      case MPI_DISTRIBUTE_BLOCK:
        if (!fallback && (dargs[d] < 1 || MPI_Count{dargs[d]} * psizes[d] < global))
          return bad_dimension("the block size", d, dargs[d], "large enough that every index has a process");
        break;
      case MPI_DISTRIBUTE_CYCLIC:
        if (!fallback && dargs[d] < 1) return bad_dimension("the block size", d, dargs[d], "positive");
        break;
      default:
        return bad_dimension("the distribution", d, distribs[d], "MPI_DISTRIBUTE_NONE, _BLOCK or _CYCLIC");
    }
    processes *= psizes[d];
    if (processes > size) break;
  }
  if (processes != size) return Status::fail(MPI_ERR_ARG, "the process grid does not have %d processes", size);
  if (rank < 0 || rank >= size) return Status::fail(MPI_ERR_ARG, "rank %d is outside 0..%d", rank, size - 1);
  return guarded([&] {
    const auto n = static_cast<std::size_t>(ndims);
    Contents c;
    c.combiner = MPI_COMBINER_DARRAY;
    c.add(What::kInt, size);
    c.add(What::kInt, rank);
    c.add(What::kInt, ndims);
    c.add(What::kCount, gsizes, n);
    c.add(What::kInt, distribs, n);
    c.add(What::kInt, dargs, n);
    c.add(What::kInt, psizes, n);
    c.add(What::kInt, order);
    Shape shape;
    MPI_Count step = oldtype.extent(), items = 1, low = 0, high = 0;
    for (int k = 0; k < ndims; ++k) {
      const int dimension = order == MPI_ORDER_FORTRAN ? k : ndims - 1 - k;
      const auto d = static_cast<std::size_t>(dimension);
      const auto mine = Distribution::of(gsizes[d], distribs[d], dargs[d], psizes[d],
                                         grid_coordinate(rank, ndims, psizes, dimension));
      items = shape.times(items, mine.indices());
      if (mine.indices() > 0) {
        low = shape.plus(low, shape.times(mine.first, step));
        high = shape.plus(high, shape.times(mine.last(), step));
      }
      step = shape.times(step, gsizes[d]);
    }
    shape.add(oldtype, items, low, high);
    shape.explicit_bounds(0, step);
    ASHLAR_TRY(shape.finish());
    c.types.push_back(Ref<Datatype>::share(oldtype));
    return Builder::make(std::move(c), shape.bounds, shape.size, shape.signature, newtype);
  });
}

}  // namespace ashlar::datatype
