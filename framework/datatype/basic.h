#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace ashlar {

/// What one element of a predefined datatype is to the machine: this picks a kernel.
enum class Basic : std::uint8_t {
  kNone,   // a derived datatype
  kBytes,  // moved, never computed with: MPI_CHARACTER, MPI_WCHAR, MPI_PACKED
  kByte,   // MPI_BYTE: bitwise only
  kI8,
  kI16,
  kI32,
  kI64,
  kI128,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kF32,
  kF64,
  kLongDouble,
  kF128,
  kC16,
  kC32,
  kC64,
  kCLongDouble,
  kC128,  // complex numbers, named by the width of one part
  kBool,
  kL8,
  kL16,
  kL32,
  kL64,
  kL128,  // C's bool; Fortran's LOGICAL of that width
  kF32Int,
  kF64Int,
  kI64Int,
  kIntInt,
  kI16Int,
  kLongDoubleInt,
  kF32F32,
  kF64F64,  // value and index
  kCount_,
  kPair  // any other pair: interpreted, not looked up
};

/// The classes by which MPI-5.0, 6.9.2 says which operations a datatype allows.
enum class BasicClass : std::uint8_t {
  kOther,
  kInteger,
  kFortranInteger,
  kFloating,
  kLogical,
  kComplex,
  kByte,
  kMultiLanguage,
  kPair
};

/// One predefined datatype.
struct BasicRow {
  MPI_Datatype handle;
  const char* name;
  std::uint16_t size, extent, align;  // size 0: this platform lacks the language type
  Basic basic;
  BasicClass of;
};

/// All of them, in the order of the ABI's constants.
struct BasicRows {
  const BasicRow* first;
  std::size_t count;
  const BasicRow* begin() const { return first; }
  const BasicRow* end() const { return first + count; }
};
BasicRows basic_rows();

}  // namespace ashlar
