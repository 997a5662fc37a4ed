#include "framework/datatype/external_number.h"

#include <bit>
#include <cfloat>
#include <cstdint>
#include <cstring>

#include "framework/object/handle.h"

namespace ashlar::datatype {
namespace {

using How = ExternalForm::How;

constexpr bool kLittle = std::endian::native == std::endian::little;

void reversed(const char* from, char* to, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) to[i] = from[kLittle ? size - 1 - i : i];
}

template <class T>
void swap_all(const char* from, char* to, std::size_t n) {
  for (; n > 0; --n, from += sizeof(T), to += sizeof(T)) {
    T value;
    std::memcpy(&value, from, sizeof value);
    if constexpr (kLittle && sizeof(T) == 2) value = __builtin_bswap16(value);
    if constexpr (kLittle && sizeof(T) == 4) value = __builtin_bswap32(value);
    if constexpr (kLittle && sizeof(T) == 8) value = __builtin_bswap64(value);
    std::memcpy(to, &value, sizeof value);
  }
}

void swap(const char* from, char* to, std::size_t size, std::size_t n) {
  switch (size) {
    case 2:
      return swap_all<std::uint16_t>(from, to, n);
    case 4:
      return swap_all<std::uint32_t>(from, to, n);
    case 8:
      return swap_all<std::uint64_t>(from, to, n);
    default:
      for (; n > 0; --n, from += size, to += size) reversed(from, to, size);
  }
}

// Stores the low `size` bytes of `value`, most significant first; the next function reads them back.
void put(std::uint64_t value, char* to, std::size_t size) {
  for (std::size_t i = size; i > 0; --i, value >>= 8) to[i - 1] = static_cast<char>(value);
}
std::uint64_t get(const char* from, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}

std::uint64_t load(const char* from, std::size_t size) {
  char big[8];
  reversed(from, big, size);
  return get(big, size);
}
void store(std::uint64_t value, char* to, std::size_t size) {
  char big[8];
  put(value, big, size);
  reversed(big, to, size);
}

// Keeps the value's low bytes and the value's own sign.
std::uint64_t narrowed(std::uint64_t value, std::size_t native, std::size_t external) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * external - 1);
  const bool negative = (value >> (8 * native - 1) & 1) != 0;
  return negative ? value | sign : value & ~sign;
}
std::uint64_t widened(std::uint64_t value, std::size_t external) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * external - 1);
  return (value & sign) != 0 ? value | ~(sign | (sign - 1)) : value;
}

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Float128;
#else
using Float128 = long double;
#endif

template <class From, class To>
To converted(const char* from) {
  From value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<To>(value);
}
// A real number of so many bytes as one of the other size, in this machine's form.
template <class To>
void resized(const char* from, std::size_t size, char* to) {
  const To value = size == sizeof(float)    ? converted<float, To>(from)
                   : size == sizeof(double) ? converted<double, To>(from)
                                            : converted<Float128, To>(from);
  std::memcpy(to, &value, sizeof value);
}
void resize(const char* from, std::size_t size, char* to, std::size_t wanted) {
  if (wanted == sizeof(float)) return resized<float>(from, size, to);
  if (wanted == sizeof(double)) return resized<double>(from, size, to);
  resized<Float128>(from, size, to);
}

void real_out(const char* native, std::size_t size, char* external, std::size_t wanted) {
  char here[sizeof(Float128)];
  resize(native, size, here, wanted);
  reversed(here, external, wanted);
}
void real_in(const char* external, std::size_t size, char* native, std::size_t wanted) {
  char here[sizeof(Float128)];
  reversed(external, here, size);
  resize(here, size, native, wanted);
}

#if LDBL_MANT_DIG == 64
// 80 bits: sign and exponent in 16, then 64 bits of mantissa with its leading one written out. The 16-byte form has the
// same exponent, no leading one, and 112 bits of fraction.
void long_double_out(const char* native, char* to) {
  std::uint64_t mantissa;
  std::uint16_t top;
  std::memcpy(&mantissa, native, sizeof mantissa);
  std::memcpy(&top, native + 8, sizeof top);
  const std::uint64_t fraction = mantissa << 1;  // without the leading one
  put(top, to, 2);
  put(fraction >> 16, to + 2, 6);
  put((fraction & 0xffff) << 48, to + 8, 8);
}

void long_double_in(const char* from, char* native) {
  auto top = static_cast<std::uint16_t>(get(from, 2));
  const std::uint64_t high = get(from + 2, 6), low = get(from + 8, 8);
  const unsigned exponent = top & 0x7fffu;
  std::uint64_t fraction = high << 15 | low >> 49;    // 63 of the 112 bits
  const std::uint64_t rest = low & 0x1ffffffffffffu;  // the other 49
  const std::uint64_t half = std::uint64_t{1} << 48;
  std::uint64_t mantissa = fraction | (exponent != 0 ? std::uint64_t{1} << 63 : 0);
  if (exponent == 0x7fff) {
    if (fraction == 0 && rest != 0) mantissa |= 1;  // stays not-a-number
  } else if (rest > half || (rest == half && (fraction & 1) != 0)) {
    ++mantissa;
    if (mantissa == 0) {  // all ones: the next power of two, perhaps infinity
      mantissa = std::uint64_t{1} << 63;
      ++top;
    } else if (exponent == 0 && (mantissa >> 63) != 0) {
      ++top;  // the smallest normal number
    }
  }
  std::memset(native, 0, sizeof(long double));
  std::memcpy(native, &mantissa, sizeof mantissa);
  std::memcpy(native + 8, &top, sizeof top);
}
#elif LDBL_MANT_DIG == 113
void long_double_out(const char* native, char* to) { reversed(native, to, 16); }
void long_double_in(const char* from, char* native) { reversed(from, native, 16); }
#else
#error "long double is neither the 80-bit nor the 128-bit format"
#endif

/// Datatypes whose external size is one thing, and their size here another.
struct Fixed {
  MPI_Datatype handle;
  How how;
  std::size_t external, numbers;
};
const Fixed kFixed[] = {
    {MPI_LONG, How::kSigned, 4, 1},           {MPI_UNSIGNED_LONG, How::kUnsigned, 4, 1},
    {MPI_WCHAR, How::kUnsigned, 2, 1},        {MPI_INTEGER, How::kSigned, 4, 1},
    {MPI_LOGICAL, How::kSigned, 4, 1},        {MPI_REAL, How::kReal, 4, 1},
    {MPI_DOUBLE_PRECISION, How::kReal, 8, 1}, {MPI_COMPLEX, How::kReal, 4, 2},
    {MPI_DOUBLE_COMPLEX, How::kReal, 8, 2},
};

}  // namespace

ExternalForm external_form(const Datatype& basic) {
  const auto size = static_cast<std::size_t>(basic.size());
  const auto handle = to_handle<MPI_Datatype>(&const_cast<Datatype&>(basic));
  for (const Fixed& row : kFixed) {
    if (row.handle != handle) continue;
    const std::size_t native = size / row.numbers;
    return {native == row.external ? How::kSwap : row.how, native, row.external, row.numbers};
  }
  switch (basic.basic()) {
    case Basic::kBytes:
    case Basic::kByte:
      return {How::kCopy, size, size, 1};
    case Basic::kLongDouble:
      return {How::kLongDouble, size, 16, 1};
    case Basic::kCLongDouble:
      return {How::kLongDouble, size / 2, 16, 2};
    case Basic::kC16:
    case Basic::kC32:
    case Basic::kC64:
    case Basic::kC128:
      return {How::kSwap, size / 2, size / 2, 2};
    default:
      return {size == 1 ? How::kCopy : How::kSwap, size, size, 1};
  }
}

void to_external(const ExternalForm& form, const char* native, char* external, std::size_t n) {
  switch (form.how) {
    case How::kCopy:
      std::memcpy(external, native, n * form.native);
      return;
    case How::kSwap:
      return swap(native, external, form.native, n);
    case How::kSigned:
    case How::kUnsigned:
      for (; n > 0; --n, native += form.native, external += form.external) {
        const std::uint64_t value = load(native, form.native);
        put(form.how == How::kSigned ? narrowed(value, form.native, form.external) : value, external, form.external);
      }
      return;
    case How::kReal:
      for (; n > 0; --n, native += form.native, external += form.external)
        real_out(native, form.native, external, form.external);
      return;
    case How::kLongDouble:
      for (; n > 0; --n, native += form.native, external += form.external) long_double_out(native, external);
      return;
  }
}

void from_external(const ExternalForm& form, const char* external, char* native, std::size_t n) {
  switch (form.how) {
    case How::kCopy:
      std::memcpy(native, external, n * form.native);
      return;
    case How::kSwap:
      return swap(external, native, form.native, n);
    case How::kSigned:
    case How::kUnsigned:
      for (; n > 0; --n, native += form.native, external += form.external) {
        const std::uint64_t value = get(external, form.external);
        store(form.how == How::kSigned ? widened(value, form.external) : value, native, form.native);
      }
      return;
    case How::kReal:
      for (; n > 0; --n, native += form.native, external += form.external)
        real_in(external, form.external, native, form.native);
      return;
    case How::kLongDouble:
      for (; n > 0; --n, native += form.native, external += form.external) long_double_in(external, native);
      return;
  }
}

}  // namespace ashlar::datatype
