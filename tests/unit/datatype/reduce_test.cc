// Every operation on every datatype it allows, against one element at a time; every other pair is refused.
#include "framework/datatype/reduce_op.h"

#include <gtest/gtest.h>

#include <climits>
#include <complex>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "framework/datatype/half.h"
#include "framework/datatype/kernel_table.h"
#include "framework/datatype/op_api.h"
#include "framework/object/handle.h"
#include "tests/unit/datatype/type_map.h"

namespace ashlar {
namespace {

using datatype::Half;
using Code = ReduceOp::Code;
__extension__ typedef __int128 Int128;
__extension__ typedef __float128 Float128;

constexpr std::size_t kCount = 67;  // not a multiple of any vector

template <class T>
using Function = std::function<T(T, T)>;

// Calls apply() and apply3() on random data and compares with `naive`.
template <class T>
void expect_op(MPI_Op op_handle, MPI_Datatype type_handle, const Function<T>& naive, const std::function<T()>& draw) {
  const ReduceOp& op = datatype::predefined_op(op_handle);
  Datatype& type = datatype::predefined(type_handle);
  SCOPED_TRACE(std::string(op.name()) + " on " + type.name());
  ASSERT_EQ(type.extent(), static_cast<MPI_Count>(sizeof(T)));
  ASSERT_TRUE(op.check(type).ok());
  std::vector<T> a(kCount), b(kCount), wanted(kCount), out(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    a[i] = draw();
    b[i] = draw();
    wanted[i] = naive(a[i], b[i]);
  }
  std::vector<T> inout = b;
  op.apply(a.data(), inout.data(), kCount, type);
  op.apply3(a.data(), b.data(), out.data(), kCount, type);
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(inout[i] == wanted[i]) << "element " << i;
    ASSERT_TRUE(out[i] == wanted[i]) << "element " << i;
  }
}

std::mt19937_64 random_engine(42);

template <class T>
T integer() {
  return static_cast<T>(random_engine());
}
template <class T>
T truth() {
  return static_cast<T>(random_engine() % 3);
}
template <class T>
T real() {
  return static_cast<T>(static_cast<int>(random_engine() % 4001) - 2000) / static_cast<T>(16);
}

// Wrapping arithmetic through the 64- or 128-bit unsigned type.
template <class T>
T wrap_sum(T a, T b) {
  return static_cast<T>(static_cast<unsigned __int128>(a) + static_cast<unsigned __int128>(b));
}
template <class T>
T wrap_product(T a, T b) {
  return static_cast<T>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
}

template <class T>
void integers(MPI_Datatype type, bool logical) {
  expect_op<T>(MPI_SUM, type, wrap_sum<T>, integer<T>);
  expect_op<T>(MPI_PROD, type, wrap_product<T>, integer<T>);
  expect_op<T>(
      MPI_MAX, type, [](T a, T b) { return a < b ? b : a; }, integer<T>);
  expect_op<T>(
      MPI_MIN, type, [](T a, T b) { return b < a ? b : a; }, integer<T>);
  expect_op<T>(
      MPI_BAND, type, [](T a, T b) { return static_cast<T>(a & b); }, integer<T>);
  expect_op<T>(
      MPI_BOR, type, [](T a, T b) { return static_cast<T>(a | b); }, integer<T>);
  expect_op<T>(
      MPI_BXOR, type, [](T a, T b) { return static_cast<T>(a ^ b); }, integer<T>);
  if (!logical) return;
  expect_op<T>(
      MPI_LAND, type, [](T a, T b) { return static_cast<T>(a && b); }, truth<T>);
  expect_op<T>(
      MPI_LOR, type, [](T a, T b) { return static_cast<T>(a || b); }, truth<T>);
  expect_op<T>(
      MPI_LXOR, type, [](T a, T b) { return static_cast<T>(!a != !b); }, truth<T>);
}

TEST(Reduce, CIntegers) {
  integers<short>(MPI_SHORT, true);
  integers<int>(MPI_INT, true);
  integers<long>(MPI_LONG, true);
  integers<long long>(MPI_LONG_LONG, true);
  integers<unsigned short>(MPI_UNSIGNED_SHORT, true);
  integers<unsigned>(MPI_UNSIGNED, true);
  integers<unsigned long>(MPI_UNSIGNED_LONG, true);
  integers<unsigned long long>(MPI_UNSIGNED_LONG_LONG, true);
  integers<signed char>(MPI_SIGNED_CHAR, true);
  integers<char>(MPI_CHAR, true);
  integers<unsigned char>(MPI_UNSIGNED_CHAR, true);
  integers<std::int8_t>(MPI_INT8_T, true);
  integers<std::int16_t>(MPI_INT16_T, true);
  integers<std::int32_t>(MPI_INT32_T, true);
  integers<std::int64_t>(MPI_INT64_T, true);
  integers<std::uint8_t>(MPI_UINT8_T, true);
  integers<std::uint16_t>(MPI_UINT16_T, true);
  integers<std::uint32_t>(MPI_UINT32_T, true);
  integers<std::uint64_t>(MPI_UINT64_T, true);
}

TEST(Reduce, FortranAndMultiLanguageIntegers) {
  integers<std::int32_t>(MPI_INTEGER, false);
  integers<std::int8_t>(MPI_INTEGER1, false);
  integers<std::int16_t>(MPI_INTEGER2, false);
  integers<std::int32_t>(MPI_INTEGER4, false);
  integers<std::int64_t>(MPI_INTEGER8, false);
  integers<Int128>(MPI_INTEGER16, false);
  integers<MPI_Aint>(MPI_AINT, true);
  integers<MPI_Offset>(MPI_OFFSET, true);
  integers<MPI_Count>(MPI_COUNT, true);
}

TEST(Reduce, Bytes) {
  using T = unsigned char;
  expect_op<T>(
      MPI_BAND, MPI_BYTE, [](T a, T b) { return static_cast<T>(a & b); }, integer<T>);
  expect_op<T>(
      MPI_BOR, MPI_BYTE, [](T a, T b) { return static_cast<T>(a | b); }, integer<T>);
  expect_op<T>(
      MPI_BXOR, MPI_BYTE, [](T a, T b) { return static_cast<T>(a ^ b); }, integer<T>);
}

template <class T>
void logicals(MPI_Datatype type) {
  expect_op<T>(
      MPI_LAND, type, [](T a, T b) { return static_cast<T>(a && b); }, truth<T>);
  expect_op<T>(
      MPI_LOR, type, [](T a, T b) { return static_cast<T>(a || b); }, truth<T>);
  expect_op<T>(
      MPI_LXOR, type, [](T a, T b) { return static_cast<T>(!a != !b); }, truth<T>);
}

TEST(Reduce, Logicals) {
  logicals<std::uint8_t>(MPI_C_BOOL);
  logicals<std::uint8_t>(MPI_CXX_BOOL);
  logicals<std::int32_t>(MPI_LOGICAL);
  logicals<std::int8_t>(MPI_LOGICAL1);
  logicals<std::int16_t>(MPI_LOGICAL2);
  logicals<std::int32_t>(MPI_LOGICAL4);
  logicals<std::int64_t>(MPI_LOGICAL8);
  logicals<Int128>(MPI_LOGICAL16);
}

template <class T>
void reals(MPI_Datatype type) {
  expect_op<T>(
      MPI_SUM, type, [](T a, T b) { return a + b; }, real<T>);
  expect_op<T>(
      MPI_PROD, type, [](T a, T b) { return a * b; }, real<T>);
  expect_op<T>(
      MPI_MAX, type, [](T a, T b) { return a < b ? b : a; }, real<T>);
  expect_op<T>(
      MPI_MIN, type, [](T a, T b) { return b < a ? b : a; }, real<T>);
}

TEST(Reduce, FloatingPoint) {
  reals<float>(MPI_FLOAT);
  reals<double>(MPI_DOUBLE);
  reals<long double>(MPI_LONG_DOUBLE);
  reals<float>(MPI_REAL);
  reals<double>(MPI_DOUBLE_PRECISION);
  reals<float>(MPI_REAL4);
  reals<double>(MPI_REAL8);
  reals<Float128>(MPI_REAL16);
}

struct HalfBits {
  Half h;
  bool operator==(const HalfBits& o) const { return h.bits == o.h.bits; }
};

TEST(Reduce, HalfPrecision) {
  const auto draw = [] { return HalfBits{Half::from(real<float>())}; };
  const auto by = [](auto f) {
    return [f](HalfBits a, HalfBits b) { return HalfBits{Half::from(f(a.h.value(), b.h.value()))}; };
  };
  expect_op<HalfBits>(MPI_SUM, MPI_REAL2, by([](float a, float b) { return a + b; }), draw);
  expect_op<HalfBits>(MPI_PROD, MPI_REAL2, by([](float a, float b) { return a * b; }), draw);
  expect_op<HalfBits>(MPI_MAX, MPI_REAL2, by([](float a, float b) { return a < b ? b : a; }), draw);
  expect_op<HalfBits>(MPI_MIN, MPI_REAL2, by([](float a, float b) { return b < a ? b : a; }), draw);
}

template <class T>
struct Complex {
  T re, im;
  bool operator==(const Complex& o) const { return re == o.re && im == o.im; }
};

// Small integers as parts: products and sums are exact in every width, whatever the order of operations.
template <class T>
void complexes(MPI_Datatype type) {
  const auto part = [] { return static_cast<T>(static_cast<int>(random_engine() % 21) - 10); };
  const auto draw = [&] { return Complex<T>{part(), part()}; };
  using C = Complex<T>;
  expect_op<C>(
      MPI_SUM, type,
      [](C a, C b) {
        return C{a.re + b.re, a.im + b.im};
      },
      draw);
  expect_op<C>(
      MPI_PROD, type,
      [](C a, C b) {
        return C{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
      },
      draw);
}

TEST(Reduce, ComplexNumbers) {
  complexes<float>(MPI_C_FLOAT_COMPLEX);
  complexes<double>(MPI_C_DOUBLE_COMPLEX);
  complexes<long double>(MPI_C_LONG_DOUBLE_COMPLEX);
  complexes<float>(MPI_CXX_FLOAT_COMPLEX);
  complexes<double>(MPI_CXX_DOUBLE_COMPLEX);
  complexes<long double>(MPI_CXX_LONG_DOUBLE_COMPLEX);
  complexes<float>(MPI_COMPLEX);
  complexes<double>(MPI_DOUBLE_COMPLEX);
  complexes<float>(MPI_COMPLEX8);
  complexes<double>(MPI_COMPLEX16);
  complexes<Float128>(MPI_COMPLEX32);
  const auto draw = [] {
    const auto part = [] {
      return HalfBits{Half::from(static_cast<float>(static_cast<int>(random_engine() % 21) - 10))};
    };
    return Complex<HalfBits>{part(), part()};
  };
  using C = Complex<HalfBits>;
  const auto half = [](float f) { return HalfBits{Half::from(f)}; };
  expect_op<C>(
      MPI_SUM, MPI_COMPLEX4,
      [&](C a, C b) {
        return C{half(a.re.h.value() + b.re.h.value()), half(a.im.h.value() + b.im.h.value())};
      },
      draw);
  expect_op<C>(
      MPI_PROD, MPI_COMPLEX4,
      [&](C a, C b) {
        const float ar = a.re.h.value(), ai = a.im.h.value(), br = b.re.h.value(), bi = b.im.h.value();
        return C{half(ar * br - ai * bi), half(ar * bi + ai * br)};
      },
      draw);
}

template <class V, class I>
struct Pair {
  V value;
  I index;
  bool operator==(const Pair& o) const { return value == o.value && index == o.index; }
};

template <class V, class I>
void pairs(MPI_Datatype type) {
  using P = Pair<V, I>;
  // Few different values, so that ties happen.
  const auto draw = [] { return P{static_cast<V>(random_engine() % 4), static_cast<I>(random_engine() % 10)}; };
  expect_op<P>(
      MPI_MAXLOC, type,
      [](P a, P b) {
        if (a.value != b.value) return a.value > b.value ? a : b;
        return P{a.value, std::min(a.index, b.index)};
      },
      draw);
  expect_op<P>(
      MPI_MINLOC, type,
      [](P a, P b) {
        if (a.value != b.value) return a.value < b.value ? a : b;
        return P{a.value, std::min(a.index, b.index)};
      },
      draw);
}

TEST(Reduce, PairsKeepTheLowestIndexOfEqualValues) {
  pairs<float, int>(MPI_FLOAT_INT);
  pairs<double, int>(MPI_DOUBLE_INT);
  pairs<long, int>(MPI_LONG_INT);
  pairs<int, int>(MPI_2INT);
  pairs<short, int>(MPI_SHORT_INT);
  pairs<long double, int>(MPI_LONG_DOUBLE_INT);
  pairs<float, float>(MPI_2REAL);
  pairs<double, double>(MPI_2DOUBLE_PRECISION);
  pairs<int, int>(MPI_2INTEGER);
}

TEST(Reduce, ReplaceAndNoOpOnEveryPredefinedType) {
  for (const BasicRow& row : basic_rows()) {
    if (row.size == 0) continue;
    Datatype& type = datatype::predefined(row.handle);
    std::vector<unsigned char> a(5 * row.extent, 0xaa), b(5 * row.extent, 0xbb), out(5 * row.extent, 0xcc);
    const auto packed = [&](std::vector<unsigned char>& v) {
      std::vector<unsigned char> p(5u * row.size);
      datatype::pack(DataView::of(v.data(), 5, type), 0, p.data(), p.size());
      return p;
    };
    const ReduceOp& replace = datatype::predefined_op(MPI_REPLACE);
    ASSERT_TRUE(replace.check(type).ok());
    replace.apply3(a.data(), b.data(), out.data(), 5, type);
    EXPECT_EQ(packed(out), packed(a)) << row.name;
    datatype::predefined_op(MPI_NO_OP).apply3(a.data(), b.data(), out.data(), 5, type);
    EXPECT_EQ(packed(out), packed(b)) << row.name;
  }
}

// Which class each operation takes, written down from the standard's table and not from the code.
TEST(Reduce, ForbiddenPairsAreRefusedByName) {
  const std::string kAllowed[] = {"MPI_SUM: integer fortran floating complex language",
                                  "MPI_PROD: integer fortran floating complex language",
                                  "MPI_MAX: integer fortran floating language",
                                  "MPI_MIN: integer fortran floating language",
                                  "MPI_BAND: integer fortran byte language",
                                  "MPI_BOR: integer fortran byte language",
                                  "MPI_BXOR: integer fortran byte language",
                                  "MPI_LAND: integer logical language",
                                  "MPI_LOR: integer logical language",
                                  "MPI_LXOR: integer logical language",
                                  "MPI_MAXLOC: pair",
                                  "MPI_MINLOC: pair"};
  const MPI_Op kOps[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_BAND,   MPI_BOR,
                         MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MAXLOC, MPI_MINLOC};
  const char* const kClasses[] = {"none",    "integer", "fortran",  "floating", "logical",
                                  "complex", "byte",    "language", "pair"};
  int forbidden = 0;
  for (std::size_t o = 0; o < 12; ++o) {
    const ReduceOp& op = datatype::predefined_op(kOps[o]);
    ASSERT_EQ(kAllowed[o].substr(0, kAllowed[o].find(':')), op.name());
    for (const BasicRow& row : basic_rows()) {
      const Status st = op.check(datatype::predefined(row.handle));
      const bool allowed = kAllowed[o].find(kClasses[static_cast<int>(row.of)]) != std::string::npos;
      ASSERT_EQ(st.ok(), allowed) << op.name() << " on " << row.name;
      if (allowed) continue;
      ++forbidden;
      EXPECT_EQ(st.mpi_class(), MPI_ERR_OP);
      EXPECT_NE(std::string(st.text()).find(op.name()), std::string::npos) << st.text();
      EXPECT_NE(std::string(st.text()).find(row.name), std::string::npos) << st.text();
    }
  }
  EXPECT_GT(forbidden, 300);
  const Status st = datatype::predefined_op(MPI_BAND).check(datatype::predefined(MPI_DOUBLE));
  EXPECT_STREQ(st.text(), "MPI_BAND takes integers and MPI_BYTE; MPI_DOUBLE is a floating-point number");
  EXPECT_FALSE(datatype::predefined_op(MPI_SUM).check(datatype::predefined(MPI_CHARACTER)).ok());
  // Beyond the standard.
  EXPECT_TRUE(datatype::predefined_op(MPI_SUM).check(datatype::predefined(MPI_CHAR)).ok());
}

// Of the sets that this machine can run, whichever of them the library would choose.
TEST(Reduce, EveryInstructionSetComputesTheSame) {
  constexpr std::size_t kLargest = 32;  // a complex number of two long doubles
  // Each byte is small, so that no type takes its own for something that is not a number.
  alignas(64) unsigned char a[kCount * kLargest], b[sizeof a];
  for (std::size_t i = 0; i < sizeof a; ++i) {
    a[i] = static_cast<unsigned char>(random_engine() % 64);
    b[i] = static_cast<unsigned char>(random_engine() % 64);
  }
  datatype::KernelTable base{};
  datatype::kernel_sets().front().fill(base);
  for (const datatype::KernelSet& set : datatype::kernel_sets()) {
    if (!set.supported()) continue;
    datatype::KernelTable table{};
    set.fill(table);
    for (std::size_t op = 0; op < std::size(base.kernel); ++op)
      for (std::size_t basic = 0; basic < std::size(base.kernel[op]); ++basic) {
        SCOPED_TRACE(testing::Message() << set.name << ", operation " << op << ", type " << basic);
        const datatype::Kernel expected = base.kernel[op][basic], kernel = table.kernel[op][basic];
        ASSERT_EQ(expected == nullptr, kernel == nullptr);
        if (kernel == nullptr) continue;
        alignas(64) unsigned char wanted[sizeof a] = {}, out[sizeof a] = {};
        expected(a, b, wanted, kCount);
        kernel(a, b, out, kCount);
        EXPECT_EQ(std::memcmp(wanted, out, sizeof out), 0);
      }
  }
}

// --- user operations
// ---------------------------------------------------------------------------------------------------

MPI_Datatype seen_handle;
long long seen_items, seen_calls;

void minus(void* in, void* inout, int* length, MPI_Datatype* type) {
  seen_handle = *type;
  seen_items += *length;
  ++seen_calls;
  for (int i = 0; i < *length; ++i)
    static_cast<int*>(inout)[i] = static_cast<int*>(in)[i] - static_cast<int*>(inout)[i];
}
void count_only(void*, void*, int* length, MPI_Datatype*) {
  seen_items += *length;
  ++seen_calls;
}
void minus_wide(void* in, void* inout, MPI_Count* length, MPI_Datatype* type) {
  seen_handle = *type;
  for (MPI_Count i = 0; i < *length; ++i)
    static_cast<int*>(inout)[i] = static_cast<int*>(in)[i] - static_cast<int*>(inout)[i];
}

TEST(UserOp, IsCalledWithTheUsersHandleAndLeftOperandFirst) {
  for (const bool wide : {false, true}) {
    ReduceOp* op = nullptr;
    ASSERT_TRUE((wide ? datatype::op_create_c(minus_wide, 0, &op) : datatype::op_create(minus, 0, &op)).ok());
    EXPECT_FALSE(op->commutative());
    const int a[] = {10, 20, 30};
    int b[] = {1, 2, 3}, out[3];
    Datatype& type = datatype::predefined(MPI_INT);
    ASSERT_TRUE(op->check(type).ok());
    op->apply3(a, b, out, 3, type);
    EXPECT_EQ(out[2], 27);
    EXPECT_EQ(b[2], 3);
    op->apply(a, b, 3, type);
    EXPECT_EQ(b[0], 9);
    EXPECT_EQ(seen_handle, MPI_INT);
    ASSERT_TRUE(datatype::op_free(&op).ok());
    EXPECT_EQ(op, nullptr);
  }
}

TEST(UserOp, CountsAboveIntMaxComeInPieces) {
  ReduceOp* op = nullptr;
  ASSERT_TRUE(datatype::op_create(count_only, 1, &op).ok());
  int commute;
  ASSERT_TRUE(datatype::op_commutative(*op, &commute).ok());
  EXPECT_EQ(commute, 1);
  seen_items = seen_calls = 0;
  char some[1];
  const MPI_Count count = 2 * MPI_Count{INT_MAX} + 5;
  // The function touches nothing, so no such buffer is needed; an empty type keeps the addresses in place.
  Datatype* empty = nullptr;
  ASSERT_TRUE(datatype::contiguous(0, datatype::predefined(MPI_CHAR), &empty).ok());
  const auto keep = oracle::committed(empty);
  op->apply(some, some, count, *empty);
  EXPECT_EQ(seen_items, count);
  EXPECT_EQ(seen_calls, 3);
  ASSERT_TRUE(datatype::op_free(&op).ok());
}

TEST(UserOp, WorksOnDerivedTypesWithHoles) {
  ReduceOp* op = nullptr;
  ASSERT_TRUE(datatype::op_create(
                  [](void* in, void* inout, int* length, MPI_Datatype* handle) {
                    const Datatype& type = *resolve(*handle);
                    for (int i = 0; i < *length; ++i)
                      *reinterpret_cast<int*>(static_cast<char*>(inout) + i * type.extent() + 8) +=
                          *reinterpret_cast<int*>(static_cast<char*>(in) + i * type.extent() + 8);
                  },
                  1, &op)
                  .ok());
  const MPI_Aint at[] = {8};
  Datatype *inner = nullptr, *type = nullptr;
  ASSERT_TRUE(datatype::create_hindexed_block(1, 1, at, datatype::predefined(MPI_INT), &inner).ok());
  ASSERT_TRUE(datatype::create_resized(*inner, 0, 16, &type).ok());
  ASSERT_TRUE(datatype::free(&inner).ok());
  const auto keep = oracle::committed(type);
  int a[8] = {0, 0, 5, 0, 0, 0, 7, 0}, b[8] = {9, 9, 1, 9, 9, 9, 2, 9}, out[8] = {};
  op->apply3(a, b, out, 2, *type);
  EXPECT_EQ(out[2], 6);
  EXPECT_EQ(out[6], 9);
  EXPECT_EQ(out[0], 0);  // holes stay untouched
  ASSERT_TRUE(datatype::op_free(&op).ok());
}

TEST(UserOp, PredefinedOnesAreSafe) {
  ReduceOp* op = &datatype::predefined_op(MPI_SUM);
  EXPECT_EQ(datatype::op_free(&op).mpi_class(), MPI_ERR_OP);
  EXPECT_TRUE(op->commutative());
  ReduceOp* none = nullptr;
  EXPECT_EQ(datatype::op_create(nullptr, 1, &none).mpi_class(), MPI_ERR_ARG);
}

TEST(ReduceLocal, ChecksThePair) {
  int a = 3, b = 4;
  ReduceOp& sum = datatype::predefined_op(MPI_SUM);
  ASSERT_TRUE(datatype::reduce_local(&a, &b, 1, datatype::predefined(MPI_INT), sum).ok());
  EXPECT_EQ(b, 7);
  EXPECT_EQ(datatype::reduce_local(&a, &b, 4, datatype::predefined(MPI_BYTE), sum).mpi_class(), MPI_ERR_OP);
}

}  // namespace
}  // namespace ashlar
