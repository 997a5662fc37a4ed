#pragma once
#include <cstddef>

#include "framework/datatype/datatype.h"

/// Converts single numbers between this machine's form and "external32" (MPI-5.0, 14.5.2): big-endian, two's
/// complement, IEEE 754 with 16 bytes for a long double, 4 for a long, 2 for a wide character. Fortran's default kinds
/// have 4 bytes there (DOUBLE PRECISION 8), whatever size a compiler's flags have given them here.
namespace ashlar::datatype {

/// How the elements of a basic datatype change.
struct ExternalForm {
  enum class How : unsigned char { kCopy, kSwap, kSigned, kUnsigned, kReal, kLongDouble };
  How how;
  std::size_t native, external;  // bytes of one number
  std::size_t numbers;           // in one element: two in a complex one
};
ExternalForm external_form(const Datatype& basic);

/// Convert `n` numbers. An integer that is too large for its external form keeps its sign and its low bytes; a real
/// number is rounded.
void to_external(const ExternalForm& form, const char* native, char* external, std::size_t n);
void from_external(const ExternalForm& form, const char* external, char* native, std::size_t n);

}  // namespace ashlar::datatype
