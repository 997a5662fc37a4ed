// The constructors whose parts are evenly spaced: contiguous, vector, hvector, resized, dup; and those large forms that
// are functions of their own.
#include "framework/datatype/api.h"

#include "framework/datatype/contents.h"
#include "framework/datatype/guarded.h"
#include "framework/datatype/measures.h"

namespace ashlar::datatype {
namespace {

using What = Contents::What;

// `count` blocks of `blocklength` items, `step` bytes apart.
Status make_vector(Contents&& c, MPI_Count count, MPI_Count blocklength, Measures& measures, MPI_Count step,
                   Datatype& oldtype, Datatype** newtype) {
  const MPI_Count items = measures.times(count, blocklength);
  if (items > 0) {
    // The four corners of the grid: either step may be negative.
    const MPI_Count along = measures.times(blocklength - 1, oldtype.extent());
    const MPI_Count across = measures.times(count - 1, step);
    const MPI_Count low = measures.plus(along < 0 ? along : 0, across < 0 ? across : 0);
    const MPI_Count high = measures.plus(along > 0 ? along : 0, across > 0 ? across : 0);
    measures.add(oldtype, items, low, high);
  }
  ASHLAR_TRY(measures.finish());
  c.types.push_back(Ref<Datatype>::share(oldtype));
  return Builder::make(std::move(c), measures.bounds, measures.size, measures.signature, newtype);
}

}  // namespace

Status contiguous(MPI_Count count, Datatype& oldtype, Datatype** newtype) {
  ASHLAR_TRY(check_count(count, "count"));
  return guarded([&] {
    Contents c;
    c.combiner = MPI_COMBINER_CONTIGUOUS;
    c.add(What::kCount, count);
    Measures measures;
    measures.add_row(oldtype, count, 0);
    ASHLAR_TRY(measures.finish());
    c.types.push_back(Ref<Datatype>::share(oldtype));
    return Builder::make(std::move(c), measures.bounds, measures.size, measures.signature, newtype);
  });
}

Status vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& oldtype, Datatype** newtype) {
  ASHLAR_TRY(check_count(count, "count"));
  ASHLAR_TRY(check_count(blocklength, "blocklength"));
  return guarded([&] {
    Contents c;
    c.combiner = MPI_COMBINER_VECTOR;
    c.add(What::kCount, count);
    c.add(What::kCount, blocklength);
    c.add(What::kCount, stride);
    Measures measures;
    const MPI_Count step = count > 1 ? measures.times(stride, oldtype.extent()) : 0;
    return make_vector(std::move(c), count, blocklength, measures, step, oldtype, newtype);
  });
}

Status create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& oldtype, Datatype** newtype) {
  ASHLAR_TRY(check_count(count, "count"));
  ASHLAR_TRY(check_count(blocklength, "blocklength"));
  return guarded([&] {
    Contents c;
    c.combiner = MPI_COMBINER_HVECTOR;
    c.add(What::kCount, count);
    c.add(What::kCount, blocklength);
    c.add(What::kAddress, stride);
    Measures measures;
    return make_vector(std::move(c), count, blocklength, measures, stride, oldtype, newtype);
  });
}

Status create_resized(Datatype& oldtype, MPI_Count lb, MPI_Count extent, Datatype** newtype) {
  return guarded([&] {
    Contents c;
    c.combiner = MPI_COMBINER_RESIZED;
    c.add(What::kAddress, lb);
    c.add(What::kAddress, extent);
    c.types.push_back(Ref<Datatype>::share(oldtype));
    Measures measures;
    measures.bounds = oldtype.bounds();
    measures.explicit_bounds(lb, extent);
    ASHLAR_TRY(measures.finish());
    return Builder::make(std::move(c), measures.bounds, oldtype.size(), oldtype.signature(), newtype);
  });
}

Status dup(Datatype& oldtype, Datatype** newtype) {
  return guarded([&] {
    Contents c;
    c.combiner = MPI_COMBINER_DUP;
    c.types.push_back(Ref<Datatype>::share(oldtype));
    Datatype* copy = nullptr;
    ASHLAR_TRY(Builder::make(std::move(c), oldtype.bounds(), oldtype.size(), oldtype.signature(), &copy));
    if (oldtype.committed()) Builder::commit(*copy);
    if (const Status copied = copy_attributes(oldtype, *copy); !copied.ok()) {
      // Attributes copied so far are deleted again; the first failure is the one that is returned.
      static_cast<void>(delete_attributes(*copy));
      release(copy);
      return copied;
    }
    *newtype = copy;
    return Status{};
  });
}

namespace {

Status as_large(Status made, Datatype** newtype) {
  if (made.ok()) Builder::cold_of(**newtype).contents.large = true;
  return made;
}

}  // namespace

Status contiguous_c(MPI_Count count, Datatype& oldtype, Datatype** newtype) {
  return as_large(contiguous(count, oldtype, newtype), newtype);
}

Status vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& oldtype, Datatype** newtype) {
  return as_large(vector(count, blocklength, stride, oldtype, newtype), newtype);
}

Status create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, Datatype& oldtype,
                        Datatype** newtype) {
  return as_large(create_hvector(count, blocklength, stride, oldtype, newtype), newtype);
}

Status create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, IntArray displacements, Datatype& oldtype,
                               Datatype** newtype) {
  return as_large(create_hindexed_block(count, blocklength, displacements, oldtype, newtype), newtype);
}

Status create_resized_c(Datatype& oldtype, MPI_Count lb, MPI_Count extent, Datatype** newtype) {
  return as_large(create_resized(oldtype, lb, extent, newtype), newtype);
}

Status commit(Datatype** type) {
  return guarded([&] {
    Builder::commit(**type);
    return Status{};
  });
}

Status free(Datatype** type) { return Builder::free(type); }

}  // namespace ashlar::datatype
