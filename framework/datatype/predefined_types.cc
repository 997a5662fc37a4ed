#include "framework/datatype/basic.h"

#include <mpi_removed.h>

#include <complex>
#include <cwchar>
#include <type_traits>

#include "framework/datatype/fortran_sizes.h"

namespace ashlar {
namespace {

template <class Value, class Index>
struct Pair {
  Value value;
  Index index;
};

// C types: size, extent and alignment are the compiler's.
template <class T>
constexpr std::uint16_t size_of = sizeof(T);
template <class T>
constexpr std::uint16_t align_of = alignof(T);

#define PLAIN(NAME, TYPE, BASIC, CLASS) \
  { NAME, #NAME, size_of<TYPE>, size_of<TYPE>, align_of<TYPE>, Basic::BASIC, BasicClass::CLASS }
// The packed size of a pair is the sum of its parts; its extent is the C struct's.
#define PAIR(NAME, VALUE, INDEX, BASIC)                                                                      \
  {                                                                                                          \
    NAME, #NAME, size_of<VALUE> + size_of<INDEX>, size_of<Pair<VALUE, INDEX>>, align_of<Pair<VALUE, INDEX>>, \
        Basic::BASIC, BasicClass::kPair                                                                      \
  }
// Fortran types of a stated width: `bytes` long, aligned as `align`.
#define SIZED(NAME, BYTES, ALIGN, BASIC, CLASS) \
  { NAME, #NAME, BYTES, BYTES, ALIGN, Basic::BASIC, BasicClass::CLASS }

template <class T>
constexpr Basic integer = std::is_signed_v<T> ? (sizeof(T) == 1   ? Basic::kI8
                                                 : sizeof(T) == 2 ? Basic::kI16
                                                 : sizeof(T) == 4 ? Basic::kI32
                                                                  : Basic::kI64)
                                              : (sizeof(T) == 1   ? Basic::kU8
                                                 : sizeof(T) == 2 ? Basic::kU16
                                                 : sizeof(T) == 4 ? Basic::kU32
                                                                  : Basic::kU64);
#define INTEGER(NAME, TYPE, CLASS) \
  { NAME, #NAME, size_of<TYPE>, size_of<TYPE>, align_of<TYPE>, integer<TYPE>, BasicClass::CLASS }

using ComplexFloat = std::complex<float>;
using ComplexDouble = std::complex<double>;
using ComplexLongDouble = std::complex<long double>;

// Where a constant has a synonym, the name is the one that the standard lists first.
// REAL is C's float, DOUBLE PRECISION its double, INTEGER and LOGICAL its int: the ABI's default Fortran sizes, until a
// Fortran library registers others (set_fortran_sizes).
BasicRow rows[] = {
    INTEGER(MPI_AINT, MPI_Aint, kMultiLanguage),
    INTEGER(MPI_COUNT, MPI_Count, kMultiLanguage),
    INTEGER(MPI_OFFSET, MPI_Offset, kMultiLanguage),
    PLAIN(MPI_PACKED, char, kBytes, kOther),
    INTEGER(MPI_SHORT, short, kInteger),
    INTEGER(MPI_INT, int, kInteger),
    INTEGER(MPI_LONG, long, kInteger),
    INTEGER(MPI_LONG_LONG_INT, long long, kInteger),
    INTEGER(MPI_UNSIGNED_SHORT, unsigned short, kInteger),
    INTEGER(MPI_UNSIGNED, unsigned, kInteger),
    INTEGER(MPI_UNSIGNED_LONG, unsigned long, kInteger),
    INTEGER(MPI_UNSIGNED_LONG_LONG, unsigned long long, kInteger),
    PLAIN(MPI_FLOAT, float, kF32, kFloating),
    PLAIN(MPI_C_COMPLEX, ComplexFloat, kC32, kComplex),
    PLAIN(MPI_CXX_FLOAT_COMPLEX, ComplexFloat, kC32, kComplex),
    PLAIN(MPI_DOUBLE, double, kF64, kFloating),
    PLAIN(MPI_C_DOUBLE_COMPLEX, ComplexDouble, kC64, kComplex),
    PLAIN(MPI_CXX_DOUBLE_COMPLEX, ComplexDouble, kC64, kComplex),
    SIZED(MPI_LOGICAL, 4, 4, kL32, kLogical),
    SIZED(MPI_INTEGER, 4, 4, kI32, kFortranInteger),
    PLAIN(MPI_REAL, float, kF32, kFloating),
    PLAIN(MPI_COMPLEX, ComplexFloat, kC32, kComplex),
    PLAIN(MPI_DOUBLE_PRECISION, double, kF64, kFloating),
    PLAIN(MPI_DOUBLE_COMPLEX, ComplexDouble, kC64, kComplex),
    PLAIN(MPI_CHARACTER, char, kBytes, kOther),
    PLAIN(MPI_LONG_DOUBLE, long double, kLongDouble, kFloating),
    PLAIN(MPI_C_LONG_DOUBLE_COMPLEX, ComplexLongDouble, kCLongDouble, kComplex),
    PLAIN(MPI_CXX_LONG_DOUBLE_COMPLEX, ComplexLongDouble, kCLongDouble, kComplex),
    PAIR(MPI_FLOAT_INT, float, int, kF32Int),
    PAIR(MPI_DOUBLE_INT, double, int, kF64Int),
    PAIR(MPI_LONG_INT, long, int, kI64Int),
    PAIR(MPI_2INT, int, int, kIntInt),
    PAIR(MPI_SHORT_INT, short, int, kI16Int),
    PAIR(MPI_LONG_DOUBLE_INT, long double, int, kLongDoubleInt),
    PAIR(MPI_2REAL, float, float, kF32F32),
    PAIR(MPI_2DOUBLE_PRECISION, double, double, kF64F64),
    PAIR(MPI_2INTEGER, int, int, kIntInt),
    PLAIN(MPI_C_BOOL, bool, kBool, kLogical),
    PLAIN(MPI_CXX_BOOL, bool, kBool, kLogical),
    PLAIN(MPI_WCHAR, wchar_t, kBytes, kOther),
    INTEGER(MPI_INT8_T, std::int8_t, kInteger),
    INTEGER(MPI_UINT8_T, std::uint8_t, kInteger),
    // The standard gives MPI_CHAR no arithmetic, but programs reduce it, and other libraries let them.
    INTEGER(MPI_CHAR, char, kInteger),
    INTEGER(MPI_SIGNED_CHAR, signed char, kInteger),
    INTEGER(MPI_UNSIGNED_CHAR, unsigned char, kInteger),
    PLAIN(MPI_BYTE, char, kByte, kByte),
    INTEGER(MPI_INT16_T, std::int16_t, kInteger),
    INTEGER(MPI_UINT16_T, std::uint16_t, kInteger),
    INTEGER(MPI_INT32_T, std::int32_t, kInteger),
    INTEGER(MPI_UINT32_T, std::uint32_t, kInteger),
    INTEGER(MPI_INT64_T, std::int64_t, kInteger),
    INTEGER(MPI_UINT64_T, std::uint64_t, kInteger),
    SIZED(MPI_LOGICAL1, 1, 1, kL8, kLogical),
    SIZED(MPI_INTEGER1, 1, 1, kI8, kFortranInteger),
    SIZED(MPI_LOGICAL2, 2, 2, kL16, kLogical),
    SIZED(MPI_INTEGER2, 2, 2, kI16, kFortranInteger),
    SIZED(MPI_REAL2, 2, 2, kF16, kFloating),
    SIZED(MPI_LOGICAL4, 4, 4, kL32, kLogical),
    SIZED(MPI_INTEGER4, 4, 4, kI32, kFortranInteger),
    SIZED(MPI_REAL4, 4, 4, kF32, kFloating),
    SIZED(MPI_COMPLEX4, 4, 2, kC16, kComplex),
    SIZED(MPI_LOGICAL8, 8, 8, kL64, kLogical),
    SIZED(MPI_INTEGER8, 8, 8, kI64, kFortranInteger),
    SIZED(MPI_REAL8, 8, 8, kF64, kFloating),
    SIZED(MPI_COMPLEX8, 8, 4, kC32, kComplex),
    SIZED(MPI_LOGICAL16, 16, 16, kL128, kLogical),
    SIZED(MPI_INTEGER16, 16, 16, kI128, kFortranInteger),
#if defined(__SIZEOF_FLOAT128__)
    SIZED(MPI_REAL16, 16, 16, kF128, kFloating),
#else
    SIZED(MPI_REAL16, 0, 1, kNone, kOther),
#endif
    SIZED(MPI_COMPLEX16, 16, 8, kC64, kComplex),
#if defined(__SIZEOF_FLOAT128__)
    SIZED(MPI_COMPLEX32, 32, 16, kC128, kComplex),
#else
    SIZED(MPI_COMPLEX32, 0, 1, kNone, kOther),
#endif
    // Bounds: no data, only a place.
    SIZED(MPI_LB, 0, 1, kNone, kOther),
    SIZED(MPI_UB, 0, 1, kNone, kOther),
};

}  // namespace

BasicRows basic_rows() { return {rows, sizeof rows / sizeof *rows}; }

namespace datatype {

BasicRow& row_to_change(MPI_Datatype handle) {
  BasicRow* row = rows;
  while (row->handle != handle) ++row;
  return *row;
}

}  // namespace datatype

}  // namespace ashlar
