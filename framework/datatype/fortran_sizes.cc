#include "framework/datatype/fortran_sizes.h"

#include <utility>

namespace ashlar::datatype {
namespace {

using Choice = std::pair<int, Basic>;

template <std::size_t N>
Basic choose(const Choice (&of)[N], int bytes) {
  for (const auto& [size, basic] : of)
    if (size == bytes) return basic;
  return Basic::kNone;
}

Basic logical_of(int bytes) {
  static constexpr Choice kOf[] = {
      {1, Basic::kL8}, {2, Basic::kL16}, {4, Basic::kL32}, {8, Basic::kL64}, {16, Basic::kL128}};
  return choose(kOf, bytes);
}

Basic integer_of(int bytes) {
  static constexpr Choice kOf[] = {
      {1, Basic::kI8}, {2, Basic::kI16}, {4, Basic::kI32}, {8, Basic::kI64}, {16, Basic::kI128}};
  return choose(kOf, bytes);
}

Basic real_of(int bytes) {
  static constexpr Choice kOf[] = {
#if defined(__SIZEOF_FLOAT128__)
    {16, Basic::kF128},
#endif
    {2, Basic::kF16},
    {4, Basic::kF32},
    {8, Basic::kF64}
  };
  return choose(kOf, bytes);
}

Basic complex_of(Basic real) {
  switch (real) {
    case Basic::kF16:
      return Basic::kC16;
    case Basic::kF32:
      return Basic::kC32;
    case Basic::kF64:
      return Basic::kC64;
    case Basic::kF128:
      return Basic::kC128;
    default:
      return Basic::kNone;
  }
}

// Pairs that a kernel of their own reduces; the others are interpreted.
Basic pair_of(Basic part) {
  switch (part) {
    case Basic::kI32:
      return Basic::kIntInt;
    case Basic::kF32:
      return Basic::kF32F32;
    case Basic::kF64:
      return Basic::kF64F64;
    default:
      return Basic::kPair;
  }
}

void change(MPI_Datatype handle, int bytes, int align, Basic basic) {
  BasicRow& row = row_to_change(handle);
  row.size = row.extent = static_cast<std::uint16_t>(bytes);
  row.align = static_cast<std::uint16_t>(align);
  row.basic = basic;
  fit_predefined(row);
}

int size_of(MPI_Datatype handle) { return row_to_change(handle).size; }

}  // namespace

bool possible(const FortranSizes& sizes) {
  return logical_of(sizes.logical) != Basic::kNone && integer_of(sizes.integer) != Basic::kNone &&
         real_of(sizes.real) != Basic::kNone && real_of(sizes.double_precision) != Basic::kNone;
}

FortranSizes fortran_sizes() {
  return {.logical = size_of(MPI_LOGICAL),
          .integer = size_of(MPI_INTEGER),
          .real = size_of(MPI_REAL),
          .double_precision = size_of(MPI_DOUBLE_PRECISION)};
}

void set_fortran_sizes(const FortranSizes& sizes) {
  const Basic integer = integer_of(sizes.integer);
  change(MPI_LOGICAL, sizes.logical, sizes.logical, logical_of(sizes.logical));
  change(MPI_INTEGER, sizes.integer, sizes.integer, integer);
  change(MPI_2INTEGER, 2 * sizes.integer, sizes.integer, pair_of(integer));
  struct Reals {
    int bytes;
    MPI_Datatype real, complex, pair;
  };
  for (const Reals& r :
       {Reals{sizes.real, MPI_REAL, MPI_COMPLEX, MPI_2REAL},
        Reals{sizes.double_precision, MPI_DOUBLE_PRECISION, MPI_DOUBLE_COMPLEX, MPI_2DOUBLE_PRECISION}}) {
    const Basic real = real_of(r.bytes);
    change(r.real, r.bytes, r.bytes, real);
    change(r.complex, 2 * r.bytes, r.bytes, complex_of(real));
    change(r.pair, 2 * r.bytes, r.bytes, pair_of(real));
  }
}

}  // namespace ashlar::datatype
