#include "framework/rma/elements.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "framework/rma/whole.h"

namespace ashlar::rma {
namespace {

using Code = ReduceOp::Code;

template <class T>
T element_at(const std::byte* from, std::size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof value);
  return value;
}
template <class T>
void put_at(std::byte* to, std::size_t i, T value) {
  std::memcpy(to + i * sizeof(T), &value, sizeof value);
}
template <class Word>
Word* word_at(std::byte* target, std::size_t i) {
  return reinterpret_cast<Word*>(target) + i;
}

template <std::size_t N>
using WordOf = std::conditional_t<
    N == 1, std::uint8_t,
    std::conditional_t<N == 2, std::uint16_t, std::conditional_t<N == 4, std::uint32_t, std::uint64_t>>>;

// --- operations that the processor has ---

struct FetchSum {
  template <class W>
  static W of(W* at, W by) {
    return __atomic_fetch_add(at, by, __ATOMIC_ACQ_REL);
  }
};
struct FetchAnd {
  template <class W>
  static W of(W* at, W by) {
    return __atomic_fetch_and(at, by, __ATOMIC_ACQ_REL);
  }
};
struct FetchOr {
  template <class W>
  static W of(W* at, W by) {
    return __atomic_fetch_or(at, by, __ATOMIC_ACQ_REL);
  }
};
struct FetchXor {
  template <class W>
  static W of(W* at, W by) {
    return __atomic_fetch_xor(at, by, __ATOMIC_ACQ_REL);
  }
};
struct Exchange {
  template <class W>
  static W of(W* at, W by) {
    return __atomic_exchange_n(at, by, __ATOMIC_ACQ_REL);
  }
};

// Two loops: without a result the compiler takes instructions that are cheaper than those with one.
template <class Fetch, class Word>
void by_fetch(std::byte* target, const std::byte* in, std::byte* out, std::size_t n, const ReduceOp&, Datatype&) {
  if (out != nullptr) {
    for (std::size_t i = 0; i < n; ++i) put_at(out, i, Fetch::of(word_at<Word>(target, i), element_at<Word>(in, i)));
  } else {
    for (std::size_t i = 0; i < n; ++i) Fetch::of(word_at<Word>(target, i), element_at<Word>(in, i));
  }
}

template <class Word>
void replace(std::byte* target, const std::byte* in, std::byte* out, std::size_t n, const ReduceOp& op,
             Datatype& element) {
  if (out != nullptr) {
    by_fetch<Exchange, Word>(target, in, out, n, op, element);
  } else if (n == 1) {
    store_word(target, element_at<Word>(in, 0), __ATOMIC_RELEASE);
  } else {
    store_whole<Word>(target, in, n * sizeof(Word));
  }
}

template <class Word>
void read(std::byte* target, const std::byte*, std::byte* out, std::size_t n, const ReduceOp&, Datatype&) {
  if (out == nullptr) return;
  if (n == 1) {
    put_at(out, 0, load_word<Word>(target, __ATOMIC_ACQUIRE));
  } else {
    load_whole<Word>(out, target, n * sizeof(Word));
  }
}

// --- operations computed here, and stored unless another process was faster ---

// As the kernels of reductions compute them (framework/datatype/reduce_kernels.h): `a` is the origin's element.
// Unsigned integers wrap around, of at least int's width, so that promotion cannot overflow.
template <class T>
struct Computing {
  using type = T;
};
template <class T>
requires std::is_integral_v<T>
struct Computing<T> {
  using type = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;
};
struct Sum {
  template <class T>
  static T of(T a, T b) {
    using W = typename Computing<T>::type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
};
struct Prod {
  template <class T>
  static T of(T a, T b) {
    using W = typename Computing<T>::type;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a > b ? a : b;
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return a < b ? a : b;
  }
};

// Where the result is what was there, the load alone was the update: a maximum that is reached already costs no store.
template <class Word, class Combine>
Word update_word(Word* at, Combine&& combine) {
  Word was = __atomic_load_n(at, __ATOMIC_ACQUIRE);
  for (;;) {
    const Word now = combine(was);
    if (now == was) return was;
    if (__atomic_compare_exchange_n(at, &was, now, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return was;
  }
}

template <class Op, class T>
void by_computing(std::byte* target, const std::byte* in, std::byte* out, std::size_t n, const ReduceOp&, Datatype&) {
  using Word = WordOf<sizeof(T)>;
  for (std::size_t i = 0; i < n; ++i) {
    const T a = element_at<T>(in, i);
    const Word was = update_word(word_at<Word>(target, i),
                                 [a](Word b) { return std::bit_cast<Word>(Op::of(a, std::bit_cast<T>(b))); });
    if (out != nullptr) put_at(out, i, was);
  }
}

// The kernel of the reduction, on one element: halves, complex numbers, logicals, pairs.
template <class Word>
void by_kernel(std::byte* target, const std::byte* in, std::byte* out, std::size_t n, const ReduceOp& op,
               Datatype& element) {
  for (std::size_t i = 0; i < n; ++i) {
    alignas(8) std::byte a[8], b[8], result[8];
    std::memcpy(a, in + i * sizeof(Word), sizeof(Word));
    const Word was = update_word(word_at<Word>(target, i), [&](Word now) {
      std::memcpy(b, &now, sizeof now);
      op.apply3(a, b, result, 1, element);
      return element_at<Word>(result, 0);
    });
    if (out != nullptr) put_at(out, i, was);
  }
}

// --- which loop ---

constexpr void set(ElementLoops& loops, Code code, Basic basic, ElementLoop loop) {
  loops[static_cast<std::size_t>(code)][static_cast<std::size_t>(basic)] = loop;
}
template <class T>
constexpr void number(ElementLoops& loops, Basic basic) {
  set(loops, Code::kProd, basic, by_computing<Prod, T>);
  set(loops, Code::kMax, basic, by_computing<Max, T>);
  set(loops, Code::kMin, basic, by_computing<Min, T>);
  set(loops, Code::kReplace, basic, replace<WordOf<sizeof(T)>>);
  set(loops, Code::kNoOp, basic, read<WordOf<sizeof(T)>>);
  if constexpr (std::is_floating_point_v<T>) {
    set(loops, Code::kSum, basic, by_computing<Sum, T>);
  } else {
    using Word = WordOf<sizeof(T)>;
    set(loops, Code::kSum, basic, by_fetch<FetchSum, Word>);
    set(loops, Code::kBand, basic, by_fetch<FetchAnd, Word>);
    set(loops, Code::kBor, basic, by_fetch<FetchOr, Word>);
    set(loops, Code::kBxor, basic, by_fetch<FetchXor, Word>);
  }
}
constexpr ElementLoops make_loops() {
  ElementLoops loops{};
  number<std::int8_t>(loops, Basic::kI8);
  number<std::int16_t>(loops, Basic::kI16);
  number<std::int32_t>(loops, Basic::kI32);
  number<std::int64_t>(loops, Basic::kI64);
  number<std::uint8_t>(loops, Basic::kU8);
  number<std::uint16_t>(loops, Basic::kU16);
  number<std::uint32_t>(loops, Basic::kU32);
  number<std::uint64_t>(loops, Basic::kU64);
  number<float>(loops, Basic::kF32);
  number<double>(loops, Basic::kF64);
  set(loops, Code::kBand, Basic::kByte, by_fetch<FetchAnd, std::uint8_t>);
  set(loops, Code::kBor, Basic::kByte, by_fetch<FetchOr, std::uint8_t>);
  set(loops, Code::kBxor, Basic::kByte, by_fetch<FetchXor, std::uint8_t>);
  return loops;
}

}  // namespace

constinit const ElementLoops element_loops = make_loops();

ElementLoop element_loop(const ReduceOp& op, const Datatype& element) {
  if (const ElementLoop loop = usual_loop(op, element); loop != nullptr) return loop;
  return with_word(static_cast<std::size_t>(element.size()), [&](auto word) -> ElementLoop {
    using Word = decltype(word);
    switch (op.code()) {
      case Code::kReplace:
        return replace<Word>;
      case Code::kNoOp:
        return read<Word>;
      default:
        return by_kernel<Word>;
    }
  });
}

void swap_if_equal(std::byte* target, const void* compare, const void* in, void* out, std::size_t width) {
  with_word(width, [&](auto word) {
    using Word = decltype(word);
    auto was = element_at<Word>(static_cast<const std::byte*>(compare), 0);
    const auto now = element_at<Word>(static_cast<const std::byte*>(in), 0);
    __atomic_compare_exchange_n(word_at<Word>(target, 0), &was, now, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    std::memcpy(out, &was, sizeof was);
  });
}

}  // namespace ashlar::rma
