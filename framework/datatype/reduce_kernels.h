// The loops of the predefined reductions, for every operation and element type. Included by one source per instruction
// set, so everything here has internal linkage and nothing of the standard library is used: an inline function compiled
// for a newer machine must not end up as the linker's only copy. Included by kernels_*.cc only.
#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/datatype/half.h"
#include "framework/datatype/kernel_table.h"

namespace ashlar::datatype {
namespace {

#if defined(__clang__)
#define ASHLAR_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define ASHLAR_INDEPENDENT _Pragma("GCC ivdep")
#endif

template <class T>
struct Complex {
  T re, im;
};
template <class V, class I>
struct ValueIndex {
  V value;
  I index;
};

// The unsigned type in which wrap-around is defined; at least as wide as unsigned int, so promotion cannot overflow.
template <class T>
struct Wrap {
  using type = T;
};
template <>
struct Wrap<std::int8_t> {
  using type = unsigned;
};
template <>
struct Wrap<std::int16_t> {
  using type = unsigned;
};
template <>
struct Wrap<std::int32_t> {
  using type = unsigned;
};
template <>
struct Wrap<std::int64_t> {
  using type = std::uint64_t;
};
template <>
struct Wrap<std::uint8_t> {
  using type = unsigned;
};
template <>
struct Wrap<std::uint16_t> {
  using type = unsigned;
};
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;
template <>
struct Wrap<Int128> {
  using type = Uint128;
};

struct Sum {
  template <class T>
  static T of(T a, T b) {
    using W = typename Wrap<T>::type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
  static Half of(Half a, Half b) { return Half::from(a.value() + b.value()); }
  template <class T>
  static Complex<T> of(Complex<T> a, Complex<T> b) {
    return {of(a.re, b.re), of(a.im, b.im)};
  }
};
struct Prod {
  template <class T>
  static T of(T a, T b) {
    using W = typename Wrap<T>::type;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
  static Half of(Half a, Half b) { return Half::from(a.value() * b.value()); }
  template <class T>
  static Complex<T> of(Complex<T> a, Complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  static Complex<Half> of(Complex<Half> a, Complex<Half> b) {
    const Complex<float> r = of(Complex<float>{a.re.value(), a.im.value()}, Complex<float>{b.re.value(), b.im.value()});
    return {Half::from(r.re), Half::from(r.im)};
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
  static Half of(Half a, Half b) { return a.value() > b.value() ? a : b; }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
  static Half of(Half a, Half b) { return a.value() < b.value() ? a : b; }
};
struct Band {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Bor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Bxor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
// Any value but zero is true; the result is 1 or 0.
struct Land {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) & (b != 0));
  }
};
struct Lor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) | (b != 0));
  }
};
struct Lxor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) ^ (b != 0));
  }
};
// Equal values: the lower index (MPI-5.0, 6.9.4).
struct Maxloc {
  template <class P>
  static P of(P a, P b) {
    if (a.value > b.value) return a;
    if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
    return b;
  }
};
struct Minloc {
  template <class P>
  static P of(P a, P b) {
    if (a.value < b.value) return a;
    if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
    return b;
  }
};

// `out` is `b` or apart from both, and element i depends on elements i only: the iterations are independent.
template <class Op, class T>
void loop(const void* va, const void* vb, void* vout, std::size_t n) {
  const T* a = static_cast<const T*>(va);
  const T* b = static_cast<const T*>(vb);
  T* out = static_cast<T*>(vout);
  ASHLAR_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) out[i] = Op::of(a[i], b[i]);
}

using Code = ReduceOp::Code;

void set(KernelTable& t, Code code, Basic basic, Kernel kernel) {
  t.kernel[static_cast<int>(code)][static_cast<int>(basic)] = kernel;
}
template <class T>
void arithmetic(KernelTable& t, Basic basic) {
  set(t, Code::kSum, basic, loop<Sum, T>);
  set(t, Code::kProd, basic, loop<Prod, T>);
}
template <class T>
void ordered(KernelTable& t, Basic basic) {
  arithmetic<T>(t, basic);
  set(t, Code::kMax, basic, loop<Max, T>);
  set(t, Code::kMin, basic, loop<Min, T>);
}
template <class T>
void bitwise(KernelTable& t, Basic basic) {
  set(t, Code::kBand, basic, loop<Band, T>);
  set(t, Code::kBor, basic, loop<Bor, T>);
  set(t, Code::kBxor, basic, loop<Bxor, T>);
}
template <class T>
void logical(KernelTable& t, Basic basic) {
  set(t, Code::kLand, basic, loop<Land, T>);
  set(t, Code::kLor, basic, loop<Lor, T>);
  set(t, Code::kLxor, basic, loop<Lxor, T>);
}
template <class T>
void integer(KernelTable& t, Basic basic) {
  ordered<T>(t, basic);
  bitwise<T>(t, basic);
  logical<T>(t, basic);
}
template <class V, class I>
void pair(KernelTable& t, Basic basic) {
  set(t, Code::kMaxloc, basic, loop<Maxloc, ValueIndex<V, I>>);
  set(t, Code::kMinloc, basic, loop<Minloc, ValueIndex<V, I>>);
}

[[maybe_unused]] void fill(KernelTable& t) {
  integer<std::int8_t>(t, Basic::kI8);
  integer<std::int16_t>(t, Basic::kI16);
  integer<std::int32_t>(t, Basic::kI32);
  integer<std::int64_t>(t, Basic::kI64);
  integer<Int128>(t, Basic::kI128);
  integer<std::uint8_t>(t, Basic::kU8);
  integer<std::uint16_t>(t, Basic::kU16);
  integer<std::uint32_t>(t, Basic::kU32);
  integer<std::uint64_t>(t, Basic::kU64);
  bitwise<std::uint8_t>(t, Basic::kByte);
  ordered<Half>(t, Basic::kF16);
  ordered<float>(t, Basic::kF32);
  ordered<double>(t, Basic::kF64);
  ordered<long double>(t, Basic::kLongDouble);
  arithmetic<Complex<Half>>(t, Basic::kC16);
  arithmetic<Complex<float>>(t, Basic::kC32);
  arithmetic<Complex<double>>(t, Basic::kC64);
  arithmetic<Complex<long double>>(t, Basic::kCLongDouble);
#if defined(__SIZEOF_FLOAT128__)
  __extension__ typedef __float128 Float128;
  ordered<Float128>(t, Basic::kF128);
  arithmetic<Complex<Float128>>(t, Basic::kC128);
#endif
  logical<std::uint8_t>(t, Basic::kBool);
  logical<std::uint8_t>(t, Basic::kL8);
  logical<std::uint16_t>(t, Basic::kL16);
  logical<std::uint32_t>(t, Basic::kL32);
  logical<std::uint64_t>(t, Basic::kL64);
  logical<Uint128>(t, Basic::kL128);
  pair<float, int>(t, Basic::kF32Int);
  pair<double, int>(t, Basic::kF64Int);
  pair<std::int64_t, int>(t, Basic::kI64Int);
  pair<int, int>(t, Basic::kIntInt);
  pair<std::int16_t, int>(t, Basic::kI16Int);
  pair<long double, int>(t, Basic::kLongDoubleInt);
  pair<float, float>(t, Basic::kF32F32);
  pair<double, double>(t, Basic::kF64F64);
}

}  // namespace
}  // namespace ashlar::datatype
