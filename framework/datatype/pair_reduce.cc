#include "framework/datatype/pair_reduce.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "framework/datatype/compile.h"
#include "framework/datatype/half.h"

namespace ashlar::datatype {
namespace {

__extension__ typedef __int128 Wide;  // holds every index

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

using Index = Wide (*)(const char* from);
template <class T>
Wide index_at(const char* from) {
  return load<T>(from);
}

Index index_of(Basic basic) {
  switch (basic) {
    case Basic::kI8:
      return index_at<std::int8_t>;
    case Basic::kI16:
      return index_at<std::int16_t>;
    case Basic::kI32:
      return index_at<std::int32_t>;
    case Basic::kI64:
      return index_at<std::int64_t>;
    case Basic::kI128:
      return index_at<Wide>;
    case Basic::kU8:
      return index_at<std::uint8_t>;
    case Basic::kU16:
      return index_at<std::uint16_t>;
    case Basic::kU32:
      return index_at<std::uint32_t>;
    case Basic::kU64:
      return index_at<std::uint64_t>;
    default:
      return nullptr;
  }
}

/// Where the members of a pair (MPI_MINLOC) lie: the value at 0, the index behind it, the next pair after `step`.
struct PairLayout {
  std::size_t index_at, index_bytes, step;
  Index index;
};

template <class T>
bool less(T a, T b) {
  return a < b;
}
bool less(Half a, Half b) { return a.value() < b.value(); }

using Loop = void (*)(bool minimum, const PairLayout& pair, const char* a, const char* b, char* out, MPI_Count n);

// Equal values: the lower index.
template <class V>
void loop(bool minimum, const PairLayout& pair, const char* a, const char* b, char* out, MPI_Count n) {
  for (; n > 0; --n, a += pair.step, b += pair.step, out += pair.step) {
    const V left = load<V>(a), right = load<V>(b);
    const bool below = less(left, right), above = less(right, left);
    bool take_a = minimum ? below : above;
    if (!below && !above) take_a = pair.index(a + pair.index_at) < pair.index(b + pair.index_at);
    const char* from = take_a ? a : b;
    if (from == out) continue;
    std::memcpy(out, from, sizeof(V));
    std::memcpy(out + pair.index_at, from + pair.index_at, pair.index_bytes);
  }
}

Loop loop_of(Basic basic) {
  switch (basic) {
    case Basic::kI8:
      return loop<std::int8_t>;
    case Basic::kI16:
      return loop<std::int16_t>;
    case Basic::kI32:
      return loop<std::int32_t>;
    case Basic::kI64:
      return loop<std::int64_t>;
    case Basic::kI128:
      return loop<Wide>;
    case Basic::kU8:
      return loop<std::uint8_t>;
    case Basic::kU16:
      return loop<std::uint16_t>;
    case Basic::kU32:
      return loop<std::uint32_t>;
    case Basic::kU64:
      return loop<std::uint64_t>;
    case Basic::kF16:
      return loop<Half>;
    case Basic::kF32:
      return loop<float>;
    case Basic::kF64:
      return loop<double>;
    case Basic::kLongDouble:
      return loop<long double>;
#if defined(__SIZEOF_FLOAT128__)
    case Basic::kF128: {
      __extension__ typedef __float128 Float128;
      return loop<Float128>;
    }
#endif
    default:
      return nullptr;
  }
}

}  // namespace

bool pair_reduces(const Datatype& value, const Datatype& index) {
  return loop_of(value.basic()) && index_of(index.basic());
}

void reduce_pairs(ReduceOp::Code code, const Datatype& type, const void* a, const void* b, void* out, MPI_Count count) {
  const PairParts parts = parts_of(type);
  const auto bytes = static_cast<std::size_t>(parts.index->size());
  const PairLayout pair{.index_at = static_cast<std::size_t>(type.true_extent()) - bytes,
                        .index_bytes = bytes,
                        .step = static_cast<std::size_t>(type.extent()),
                        .index = index_of(parts.index->basic())};
  loop_of(parts.value->basic())(code == ReduceOp::Code::kMinloc, pair, static_cast<const char*>(a),
                                static_cast<const char*>(b), static_cast<char*>(out), count);
}

}  // namespace ashlar::datatype
