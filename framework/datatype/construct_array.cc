// Constructors for parts of arrays: subarray and darray.
#include "framework/base/failure.h"
#include "framework/datatype/api.h"
#include "framework/datatype/contents.h"
#include "framework/datatype/distribution.h"
#include "framework/datatype/guarded.h"
#include "framework/datatype/measures.h"

namespace ashlar::datatype {
namespace {

using What = Contents::What;

Status check_array(int ndims, int order) {
  if (ndims < 1)
    return fail(MPI_ERR_ARG, "argument.value", {{"argument", "ndims"}, {"value", ndims}, {"wanted", "1 or more"}});
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
    return fail(MPI_ERR_ARG, "argument.value",
                {{"argument", "order"}, {"value", order}, {"wanted", "MPI_ORDER_C or MPI_ORDER_FORTRAN"}});
  return {};
}

Status bad_dimension(const char* array, int dimension, MPI_Count value, const char* rule) {
  return fail(MPI_ERR_ARG, "argument.element",
              {{"argument", array}, {"index", dimension}, {"value", value}, {"wanted", rule}});
}
Status not_within(const char* array, int dimension, MPI_Count value, MPI_Count low, MPI_Count high, const char* why) {
  return fail(
      MPI_ERR_ARG, "type.array_element",
      {{"argument", array}, {"index", dimension}, {"value", value}, {"first", low}, {"last", high}, {"why", why}});
}

/// Each dimension of a distributed array, and the grid of processes that they make.
Status check_distributions(int size, int rank, int ndims, IntArray gsizes, const int* distribs, const int* dargs,
                           const int* psizes) {
  MPI_Count processes = 1;
  for (int d = 0; d < ndims; ++d) {
    const MPI_Count global = gsizes[static_cast<std::size_t>(d)];
    if (global < 1) return bad_dimension("array_of_gsizes", d, global, "1 or more");
    if (psizes[d] < 1) return bad_dimension("array_of_psizes", d, psizes[d], "1 or more");
    const bool fallback = dargs[d] == MPI_DISTRIBUTE_DFLT_DARG;
    switch (distribs[d]) {
      case MPI_DISTRIBUTE_NONE:
        if (psizes[d] != 1) return bad_dimension("array_of_psizes", d, psizes[d], "1 with MPI_DISTRIBUTE_NONE");
        break;
      case MPI_DISTRIBUTE_BLOCK:
        if (!fallback && (dargs[d] < 1 || MPI_Count{dargs[d]} * psizes[d] < global))
          return bad_dimension("array_of_dargs", d, dargs[d], "large enough that every index has a process");
        break;
      case MPI_DISTRIBUTE_CYCLIC:
        if (!fallback && dargs[d] < 1) return bad_dimension("array_of_dargs", d, dargs[d], "1 or more");
        break;
      default:
        return bad_dimension("array_of_distribs", d, distribs[d], "MPI_DISTRIBUTE_NONE, _BLOCK or _CYCLIC");
    }
    processes *= psizes[d];
    if (processes > size) break;
  }
  if (processes != size)
    return fail(MPI_ERR_ARG, "type.grid_size",
                {{"argument", "array_of_psizes"},
                 {"places", (processes > size ? "at least " : "") + std::to_string(processes)},
                 {"size", size}});
  if (rank < 0 || rank >= size)
    return fail(MPI_ERR_ARG, "argument.range",
                {{"argument", "rank"}, {"value", rank}, {"first", 0}, {"last", size - 1}});
  return {};
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
    Measures measures;
    MPI_Count step = oldtype.extent(), items = 1, low = 0, high = 0;
    for (int k = 0; k < ndims; ++k) {
      const int dimension = order == MPI_ORDER_FORTRAN ? k : ndims - 1 - k;
      const auto d = static_cast<std::size_t>(dimension);
      if (sizes[d] < 1) return bad_dimension("array_of_sizes", dimension, sizes[d], "1 or more");
      if (subsizes[d] < 1 || subsizes[d] > sizes[d])
        return not_within("array_of_subsizes", dimension, subsizes[d], 1, sizes[d], "the size of that dimension");
      if (starts[d] < 0 || starts[d] > sizes[d] - subsizes[d])
        return not_within("array_of_starts", dimension, starts[d], 0, sizes[d] - subsizes[d],
                          "the size less the subsize of that dimension");
      items = measures.times(items, subsizes[d]);
      low = measures.plus(low, measures.times(starts[d], step));
      high = measures.plus(high, measures.times(starts[d] + subsizes[d] - 1, step));
      step = measures.times(step, sizes[d]);
    }
    measures.add(oldtype, items, low, high);
    measures.explicit_bounds(0, step);
    ASHLAR_TRY(measures.finish());
    c.types.push_back(Ref<Datatype>::share(oldtype));
    return Builder::make(std::move(c), measures.bounds, measures.size, measures.signature, newtype);
  });
}

Status create_darray(int size, int rank, int ndims, IntArray gsizes, const int* distribs, const int* dargs,
                     const int* psizes, int order, Datatype& oldtype, Datatype** newtype) {
  ASHLAR_TRY(check_array(ndims, order));
  ASHLAR_TRY(check_distributions(size, rank, ndims, gsizes, distribs, dargs, psizes));
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
    Measures measures;
    MPI_Count step = oldtype.extent(), items = 1, low = 0, high = 0;
    for (int k = 0; k < ndims; ++k) {
      const int dimension = order == MPI_ORDER_FORTRAN ? k : ndims - 1 - k;
      const auto d = static_cast<std::size_t>(dimension);
      const auto mine = Distribution::of(gsizes[d], distribs[d], dargs[d], psizes[d],
                                         grid_coordinate(rank, ndims, psizes, dimension));
      items = measures.times(items, mine.indices());
      if (mine.indices() > 0) {
        low = measures.plus(low, measures.times(mine.first, step));
        high = measures.plus(high, measures.times(mine.last(), step));
      }
      step = measures.times(step, gsizes[d]);
    }
    measures.add(oldtype, items, low, high);
    measures.explicit_bounds(0, step);
    ASHLAR_TRY(measures.finish());
    c.types.push_back(Ref<Datatype>::share(oldtype));
    return Builder::make(std::move(c), measures.bounds, measures.size, measures.signature, newtype);
  });
}

}  // namespace ashlar::datatype
