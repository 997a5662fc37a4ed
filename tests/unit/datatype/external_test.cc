// external32 against byte vectors written by hand from the format's definition: big-endian, two's complement, IEEE 754,
// 16 bytes for a long double, 4 for a long, 2 for a wide character, everything without gaps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "framework/datatype/fortran_sizes.h"
#include "framework/object/handle.h"
#include "tests/unit/datatype/type_map.h"

namespace ashlar {
namespace {

using datatype::predefined;

// "3f80 0000": bytes in hexadecimal; spaces are for the reader.
std::string hex(const std::vector<unsigned char>& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}
std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

std::vector<unsigned char> packed(const void* data, MPI_Count count, Datatype& type) {
  MPI_Count size = -1, position = 0;
  EXPECT_TRUE(datatype::pack_external_size("external32", count, type, &size).ok());
  std::vector<unsigned char> out(static_cast<std::size_t>(size), 0xee);
  EXPECT_TRUE(datatype::pack_external("external32", data, count, type, out.data(), size, &position).ok());
  EXPECT_EQ(position, size);
  return out;
}

// The datatypes whose vectors were looked at.
std::set<MPI_Datatype> seen;

// Packs to `wanted`, and `wanted` unpacks to the same value.
template <class T>
void expect(MPI_Datatype handle, T value, const std::string& wanted) {
  Datatype& type = predefined(handle);
  seen.insert(handle);
  SCOPED_TRACE(type.name());
  std::vector<unsigned char> data(sizeof value + 1, 0);
  std::memcpy(data.data() + 1, &value, sizeof value);  // not aligned
  const auto out = packed(data.data() + 1, 1, type);
  EXPECT_EQ(hex(out), without_spaces(wanted));
  T back;
  std::memset(static_cast<void*>(&back), 0, sizeof back);
  MPI_Count position = 0;
  ASSERT_TRUE(
      datatype::unpack_external("external32", out.data(), static_cast<MPI_Count>(out.size()), &position, &back, 1, type)
          .ok());
  EXPECT_EQ(position, static_cast<MPI_Count>(out.size()));
  EXPECT_TRUE(back == value);
}

class External : public testing::Test {
 protected:
  External() { datatype::register_predefined(); }
};

TEST_F(External, Integers) {
  expect<signed char>(MPI_SIGNED_CHAR, -2, "fe");
  expect<char>(MPI_CHAR, 'A', "41");
  expect<unsigned char>(MPI_BYTE, 0x9c, "9c");
  expect<unsigned char>(MPI_PACKED, 0x9c, "9c");
  expect<char>(MPI_CHARACTER, 'z', "7a");
  expect<short>(MPI_SHORT, -2, "fffe");
  expect<unsigned short>(MPI_UNSIGNED_SHORT, 0x1234, "1234");
  expect<int>(MPI_INT, 0x01020304, "01020304");
  expect<int>(MPI_INT, -2, "fffffffe");
  expect<unsigned>(MPI_UNSIGNED, 0xfedcba98u, "fedcba98");
  expect<long long>(MPI_LONG_LONG, -2, "ffffffff fffffffe");
  expect<unsigned long long>(MPI_UNSIGNED_LONG_LONG, 0x0102030405060708ull, "0102030405060708");
  expect<std::int8_t>(MPI_INT8_T, 127, "7f");
  expect<std::int16_t>(MPI_INT16_T, 0x0102, "0102");
  expect<std::int32_t>(MPI_INT32_T, 0x0a0b0c0d, "0a0b0c0d");
  expect<std::int64_t>(MPI_INT64_T, 1, "00000000 00000001");
  expect<std::uint64_t>(MPI_UINT64_T, ~std::uint64_t{0}, "ffffffff ffffffff");
  expect<MPI_Aint>(MPI_AINT, 0x0102030405060708, "0102030405060708");
  expect<MPI_Count>(MPI_COUNT, -1, "ffffffff ffffffff");
  expect<MPI_Offset>(MPI_OFFSET, 2, "00000000 00000002");
  expect<int>(MPI_INTEGER, 258, "00000102");
  expect<std::int16_t>(MPI_INTEGER2, 258, "0102");
  __extension__ typedef __int128 Int128;
  expect<Int128>(MPI_INTEGER16, Int128{1} << 64 | 5, "00000000 00000001 00000000 00000005");
  expect<unsigned char>(MPI_UNSIGNED_CHAR, 200, "c8");
  expect<std::uint8_t>(MPI_UINT8_T, 255, "ff");
  expect<std::uint16_t>(MPI_UINT16_T, 0xfedc, "fedc");
  expect<std::uint32_t>(MPI_UINT32_T, 0x80000001u, "80000001");
  expect<std::int8_t>(MPI_INTEGER1, -3, "fd");
  expect<std::int32_t>(MPI_INTEGER4, -258, "fffffefe");
  expect<std::int64_t>(MPI_INTEGER8, -258, "ffffffff fffffefe");
}

// A long has 4 bytes there, whatever it has here; the sign stays.
TEST_F(External, LongsAreNarrowed) {
  expect<long>(MPI_LONG, 1, "00000001");
  expect<long>(MPI_LONG, -5, "fffffffb");
  expect<long>(MPI_LONG, 0x7fffffff, "7fffffff");
  expect<unsigned long>(MPI_UNSIGNED_LONG, 0xfffffffful, "ffffffff");
  const long too_large[] = {0x123456789a, -0x123456789a};
  EXPECT_EQ(hex(packed(too_large, 2, predefined(MPI_LONG))),
            "3456789a"
            "cba98766");
}

// Fortran's default kinds have the sizes of the standard's table there, whatever a compiler's flags make of them.
TEST_F(External, WiderKindsOfFortranAreNarrowed) {
  const datatype::FortranSizes usual = datatype::fortran_sizes();
  datatype::set_fortran_sizes({.logical = 8, .integer = 8, .real = 8, .double_precision = 16});
  expect<std::int64_t>(MPI_INTEGER, 258, "00000102");
  expect<std::int64_t>(MPI_INTEGER, -258, "fffffefe");
  expect<std::int64_t>(MPI_LOGICAL, 1, "00000001");
  expect<double>(MPI_REAL, -1.5, "bfc00000");
  expect<std::complex<double>>(MPI_COMPLEX, {1.5, -2.0}, "3fc00000 c0000000");
#if defined(__SIZEOF_FLOAT128__)
  __extension__ typedef __float128 Float128;
  expect<Float128>(MPI_DOUBLE_PRECISION, 1.5, "3ff80000 00000000");
#endif
  struct TwoWide {
    std::int64_t value, index;
    bool operator==(const TwoWide&) const = default;
  };
  expect<TwoWide>(MPI_2INTEGER, {3, -4}, "00000003 fffffffc");
  expect<std::int64_t>(MPI_INTEGER8, -258, "ffffffff fffffefe");
  const std::int64_t too_large[] = {0x123456789a, -0x123456789a};
  EXPECT_EQ(hex(packed(too_large, 2, predefined(MPI_INTEGER))),
            "3456789a"
            "cba98766");
  const double finer = 0.1;
  EXPECT_EQ(hex(packed(&finer, 1, predefined(MPI_REAL))), "3dcccccd");
  datatype::set_fortran_sizes(usual);
  expect<int>(MPI_INTEGER, 258, "00000102");
}

TEST_F(External, WideCharacters) {
  expect<wchar_t>(MPI_WCHAR, L'A', "0041");
  expect<wchar_t>(MPI_WCHAR, 0x20ac, "20ac");
}

TEST_F(External, Logicals) {
  expect<bool>(MPI_C_BOOL, true, "01");
  expect<bool>(MPI_CXX_BOOL, false, "00");
  expect<int>(MPI_LOGICAL, 1, "00000001");
  expect<std::uint8_t>(MPI_LOGICAL1, 1, "01");
  expect<std::uint16_t>(MPI_LOGICAL2, 1, "0001");
  expect<std::uint32_t>(MPI_LOGICAL4, 1, "00000001");
  expect<std::uint64_t>(MPI_LOGICAL8, 1, "0000000000000001");
  __extension__ typedef unsigned __int128 Wide;
  expect<Wide>(MPI_LOGICAL16, 1, "00000000000000000000000000000001");
}

TEST_F(External, FloatingPoint) {
  expect<std::uint16_t>(MPI_REAL2, 0x3c00, "3c00");
  expect<float>(MPI_FLOAT, 1.0f, "3f800000");
  expect<float>(MPI_REAL, -118.625f, "c2ed4000");
  expect<float>(MPI_REAL4, std::numeric_limits<float>::infinity(), "7f800000");
  expect<double>(MPI_DOUBLE, 1.0, "3ff00000 00000000");
  expect<double>(MPI_DOUBLE_PRECISION, 3.141592653589793, "400921fb 54442d18");
  expect<double>(MPI_REAL8, -0.0, "80000000 00000000");
  // The compiler's own format is the external one, turned round.
  __extension__ typedef __float128 Quad;
  expect<Quad>(MPI_REAL16, Quad{-1.5}, "bfff8000 00000000 00000000 00000000");
}

TEST_F(External, LongDoubles) {
  expect<long double>(MPI_LONG_DOUBLE, 1.0L, "3fff0000 00000000 00000000 00000000");
  expect<long double>(MPI_LONG_DOUBLE, -1.5L, "bfff8000 00000000 00000000 00000000");
  expect<long double>(MPI_LONG_DOUBLE, 2.0L, "40000000 00000000 00000000 00000000");
  expect<long double>(MPI_LONG_DOUBLE, 0.0L, "00000000 00000000 00000000 00000000");
  expect<long double>(MPI_LONG_DOUBLE, 1.0L / 1024, "3ff50000 00000000 00000000 00000000");
  expect<long double>(MPI_LONG_DOUBLE, std::numeric_limits<long double>::infinity(),
                      "7fff0000 00000000 00000000 00000000");
#if LDBL_MANT_DIG == 64
  // One unit in the last place of 1 is 2^-63: bit 49 of the fraction's 112.
  expect<long double>(MPI_LONG_DOUBLE, 1.0L + std::numeric_limits<long double>::epsilon(),
                      "3fff0000 00000000 00020000 00000000");
  expect<long double>(MPI_LONG_DOUBLE, std::numeric_limits<long double>::denorm_min(),
                      "00000000 00000000 00020000 00000000");
  expect<long double>(MPI_LONG_DOUBLE, std::numeric_limits<long double>::max(), "7ffeffff ffffffff fffe0000 00000000");
#endif
}

// From others come numbers with all 113 bits: rounded to the nearest, ties to even.
TEST_F(External, LongDoublesAreRounded) {
  const auto read = [](const std::string& text) {
    std::vector<unsigned char> bytes;
    const std::string digits = without_spaces(text);
    for (std::size_t i = 0; i < digits.size(); i += 2)
      bytes.push_back(static_cast<unsigned char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
    long double value = -1;
    MPI_Count position = 0;
    EXPECT_TRUE(
        datatype::unpack_external("external32", bytes.data(), 16, &position, &value, 1, predefined(MPI_LONG_DOUBLE))
            .ok());
    return value;
  };
#if LDBL_MANT_DIG == 64
  const long double step = std::numeric_limits<long double>::epsilon();
  EXPECT_EQ(read("3fff0000 00000000 00000000 00000001"), 1.0L);
  EXPECT_EQ(read("3fff0000 00000000 00010000 00000000"), 1.0L);             // a tie: down to even
  EXPECT_EQ(read("3fff0000 00000000 00010000 00000001"), 1.0L + step);      // just above it
  EXPECT_EQ(read("3fff0000 00000000 00030000 00000000"), 1.0L + 2 * step);  // a tie: up to even
  EXPECT_EQ(read("3fffffff ffffffff ffffffff ffffffff"), 2.0L);             // carries into the exponent
  EXPECT_EQ(read("7ffeffff ffffffff ffffffff ffffffff"), std::numeric_limits<long double>::infinity());
  EXPECT_EQ(read("0000ffff ffffffff ffffffff ffffffff"), std::numeric_limits<long double>::min());
#endif
  EXPECT_TRUE(std::isnan(read("7fff0000 00000000 00000000 00000001")));
  EXPECT_TRUE(std::isnan(read("7fff8000 00000000 00000000 00000000")));
}

TEST_F(External, ComplexNumbersAndPairs) {
  expect<std::complex<float>>(MPI_C_FLOAT_COMPLEX, {1, -2}, "3f800000 c0000000");
  expect<std::complex<float>>(MPI_COMPLEX, {1, -2}, "3f800000 c0000000");
  expect<std::complex<double>>(MPI_C_DOUBLE_COMPLEX, {1, 2}, "3ff0000000000000 4000000000000000");
  expect<std::complex<double>>(MPI_COMPLEX16, {1, 2}, "3ff0000000000000 4000000000000000");
  expect<std::complex<long double>>(MPI_C_LONG_DOUBLE_COMPLEX, {1, -1.5L},
                                    "3fff0000000000000000000000000000 bfff8000000000000000000000000000");
  expect<std::complex<float>>(MPI_CXX_FLOAT_COMPLEX, {0, 1}, "00000000 3f800000");
  expect<std::complex<double>>(MPI_CXX_DOUBLE_COMPLEX, {0, 1}, "0000000000000000 3ff0000000000000");
  expect<std::complex<long double>>(MPI_CXX_LONG_DOUBLE_COMPLEX, {2, 1},
                                    "40000000000000000000000000000000 3fff0000000000000000000000000000");
  expect<std::complex<double>>(MPI_DOUBLE_COMPLEX, {-1, 2}, "bff0000000000000 4000000000000000");
  expect<std::complex<float>>(MPI_COMPLEX8, {-1, 2}, "bf800000 40000000");
  struct Halves {
    std::uint16_t re, im;
    bool operator==(const Halves&) const = default;
  };
  expect<Halves>(MPI_COMPLEX4, {0x3c00, 0xc000}, "3c00 c000");
  __extension__ typedef __float128 Quad;
  struct Quads {
    Quad re, im;
    bool operator==(const Quads&) const = default;
  };
  expect<Quads>(MPI_COMPLEX32, {Quad{1}, Quad{-1.5}},
                "3fff0000000000000000000000000000 bfff8000000000000000000000000000");
  struct TwoInts {
    int value, index;
    bool operator==(const TwoInts&) const = default;
  };
  expect<TwoInts>(MPI_2INT, {-1, 2}, "ffffffff 00000002");
  expect<TwoInts>(MPI_2INTEGER, {3, -4}, "00000003 fffffffc");
  struct TwoReals {
    float value, index;
    bool operator==(const TwoReals&) const = default;
  };
  expect<TwoReals>(MPI_2REAL, {1, -2}, "3f800000 c0000000");
  struct TwoDoubles {
    double value, index;
    bool operator==(const TwoDoubles&) const = default;
  };
  expect<TwoDoubles>(MPI_2DOUBLE_PRECISION, {1, 2}, "3ff0000000000000 4000000000000000");
  struct DoubleInt {
    double value;
    int index;
    bool operator==(const DoubleInt& o) const { return value == o.value && index == o.index; }
  };
  expect<DoubleInt>(MPI_DOUBLE_INT, {-2, 9}, "c000000000000000 00000009");
  struct FloatInt {
    float value;
    int index;
    bool operator==(const FloatInt&) const = default;
  };
  expect<FloatInt>(MPI_FLOAT_INT, {1, 7}, "3f800000 00000007");
  struct ShortInt {
    short value;
    int index;
    bool operator==(const ShortInt& o) const { return value == o.value && index == o.index; }
  };
  expect<ShortInt>(MPI_SHORT_INT, {-1, 7}, "ffff 00000007");
  struct LongInt {
    long value;
    int index;
    bool operator==(const LongInt& o) const { return value == o.value && index == o.index; }
  };
  expect<LongInt>(MPI_LONG_INT, {-1, 7}, "ffffffff 00000007");
  struct LongDoubleInt {
    long double value;
    int index;
    bool operator==(const LongDoubleInt& o) const { return value == o.value && index == o.index; }
  };
  expect<LongDoubleInt>(MPI_LONG_DOUBLE_INT, {2, 7}, "40000000000000000000000000000000 00000007");
}

// Whoever adds a predefined datatype adds its vector above.
TEST_F(External, NoPredefinedDatatypeIsLeftOut) {
  if (seen.empty()) GTEST_SKIP() << "the tests before this one did not run";
  for (const BasicRow& row : basic_rows()) {
    if (row.size > 0) {
      EXPECT_TRUE(seen.contains(row.handle)) << row.name;
    }
  }
}

TEST_F(External, AStructHasNoGapsAndStaysInOrder) {
  struct Item {
    char c;
    int i;
    double d;
  };
  const Item items[2] = {{'a', 1, 1.0}, {'b', -1, 2.0}};
  Datatype* type = nullptr;
  const int lengths[] = {1, 1, 1};
  const MPI_Aint places[] = {offsetof(Item, d), offsetof(Item, c), offsetof(Item, i)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR, MPI_INT};
  ASSERT_TRUE(datatype::create_struct(3, IntArray(lengths), IntArray(places), types, &type).ok());
  const auto keep = oracle::committed(type);
  EXPECT_EQ(hex(packed(items, 2, *type)), without_spaces("3ff0000000000000 61 00000001 4000000000000000 62 ffffffff"));
}

TEST_F(External, Errors) {
  int data = 1;
  char room[8];
  MPI_Count position = 0, size = 0;
  Datatype& type = predefined(MPI_INT);
  EXPECT_EQ(datatype::pack_external("external64", &data, 1, type, room, 8, &position).mpi_class(),
            MPI_ERR_UNSUPPORTED_DATAREP);
  EXPECT_EQ(datatype::pack_external_size("native", 1, type, &size).mpi_class(), MPI_ERR_UNSUPPORTED_DATAREP);
  position = 5;
  EXPECT_EQ(datatype::pack_external("external32", &data, 1, type, room, 8, &position).mpi_class(), MPI_ERR_TRUNCATE);
  EXPECT_EQ(datatype::unpack_external("external32", room, 8, &position, &data, 1, type).mpi_class(), MPI_ERR_TRUNCATE);
  position = 9;
  EXPECT_EQ(datatype::unpack_external("external32", room, 8, &position, &data, 0, type).mpi_class(), MPI_ERR_ARG);
  position = 0;
  EXPECT_EQ(datatype::pack_external_size("external32", MPI_Count{1} << 62, type, &size).mpi_class(), MPI_ERR_COUNT);
}

// Random datatypes: each number of the type map in order, its bytes turned round, and back.
TEST_F(External, RandomDatatypes) {
  std::mt19937_64 random(17);
  int compared = 0;
  for (int n = 0; n < 400; ++n) {
    const oracle::Sample sample = oracle::random_sample(random, 4);
    if (sample.map.elements.empty() || sample.map.elements.size() > 3000) continue;
    SCOPED_TRACE(sample.text);
    const MPI_Count count = 1 + static_cast<MPI_Count>(random() % 4);
    const auto places = sample.map.bytes(count);
    const auto [low, high] = std::minmax_element(places.begin(), places.end());
    if (*high - *low > 1 << 20) continue;
    const auto span = static_cast<std::size_t>(*high - *low + 1);
    std::vector<unsigned char> out(span), in(span, 0);
    for (unsigned char& byte : out) byte = static_cast<unsigned char>(random());
    // Any bytes are an integer; a long double has to be one.
    const long double ld = 1.25L;
    bool overlap = false;
    for (MPI_Count i = 0; i < count; ++i)
      for (const oracle::Element& e : sample.map.elements)
        if (e.basic == MPI_LONG_DOUBLE)
          std::memcpy(&out[static_cast<std::size_t>(i * sample.map.extent() + e.displacement - *low)], &ld, sizeof ld);
    std::vector<unsigned char> wanted;
    for (MPI_Count i = 0; i < count; ++i) {
      for (const oracle::Element& e : sample.map.elements) {
        const unsigned char* at = &out[static_cast<std::size_t>(i * sample.map.extent() + e.displacement - *low)];
        if (e.basic == MPI_LONG_DOUBLE) {
          overlap = overlap || std::memcmp(at, &ld, 10) != 0;
          const unsigned char form[16] = {0x3f, 0xff, 0x40};
          wanted.insert(wanted.end(), form, form + 16);
          continue;
        }
        const MPI_Count part = e.basic == MPI_C_DOUBLE_COMPLEX ? 8 : e.size;
        for (MPI_Count done = 0; done < e.size; done += part)
          for (MPI_Count b = part - 1; b >= 0; --b) wanted.push_back(at[done + b]);
      }
    }
    if (overlap) continue;  // long doubles that lie over each other
    ++compared;
    const auto form = packed(out.data() - *low, count, *sample.type);
    ASSERT_EQ(hex(form), hex(wanted));
    MPI_Count position = 0;
    ASSERT_TRUE(datatype::unpack_external("external32", form.data(), static_cast<MPI_Count>(form.size()), &position,
                                          in.data() - *low, count, *sample.type)
                    .ok());
    // Where elements lie over each other the last one wins in both directions.
    const std::set<MPI_Count> distinct(places.begin(), places.end());
    if (distinct.size() != places.size()) continue;
    EXPECT_EQ(hex(packed(in.data() - *low, count, *sample.type)), hex(wanted));
  }
  EXPECT_GT(compared, 200);
}

}  // namespace
}  // namespace ashlar
