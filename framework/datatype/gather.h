#pragma once
#include <cstddef>
#include <cstring>

#include "framework/datatype/copy.h"

/// Packing equal small blocks that lie `step` bytes apart into a row: several are joined in a register, so that the row
/// is written with full stores. Where every second element is wanted whole vectors are read, gaps included; a gap
/// between two elements lies on pages that the elements lie on, and nothing behind the last element is read.
namespace ashlar::datatype {

template <class Item, std::size_t N>
using Vector [[gnu::vector_size(N)]] = Item;

/// Blocks that have a kernel of their own.
template <class Block>
constexpr bool kGathers = false;
template <>
inline constexpr bool kGathers<Fixed<1>> = true;
template <>
inline constexpr bool kGathers<Fixed<2>> = true;
template <>
inline constexpr bool kGathers<Fixed<4>> = true;
template <>
inline constexpr bool kGathers<Fixed<8>> = true;

template <class Item>
inline Item load(const char* from) {
  Item item;
  std::memcpy(&item, from, sizeof item);
  return item;
}
template <class Item>
inline void store(char* to, const Item& item) {
  std::memcpy(to, &item, sizeof item);
}

/// `n` elements of 8 bytes.
inline void gather(Fixed<8>, char* __restrict to, const char* __restrict from, std::ptrdiff_t step, std::size_t n) {
  using Two = Vector<double, 16>;
  for (; n >= 4; n -= 4, to += 32, from += 4 * step) {
    store(to, Two{load<double>(from), load<double>(from + step)});
    store(to + 16, Two{load<double>(from + 2 * step), load<double>(from + 3 * step)});
  }
  for (; n > 0; --n, to += 8, from += step) store(to, load<double>(from));
}

inline void gather(Fixed<4>, char* __restrict to, const char* __restrict from, std::ptrdiff_t step, std::size_t n) {
  using Four = Vector<float, 16>;
  if (step == 8) {
    for (; n > 4; n -= 4, to += 16, from += 32)
      store(to, __builtin_shufflevector(load<Four>(from), load<Four>(from + 16), 0, 2, 4, 6));
  }
  for (; n >= 4; n -= 4, to += 16, from += 4 * step) {
    store(to, Four{load<float>(from), load<float>(from + step), load<float>(from + 2 * step),
                   load<float>(from + 3 * step)});
  }
  for (; n > 0; --n, to += 4, from += step) store(to, load<float>(from));
}

inline void gather(Fixed<2> block, char* __restrict to, const char* __restrict from, std::ptrdiff_t step,
                   std::size_t n) {
  using Eight = Vector<short, 16>;
  if (step == 4) {
    for (; n > 8; n -= 8, to += 16, from += 32)
      store(to, __builtin_shufflevector(load<Eight>(from), load<Eight>(from + 16), 0, 2, 4, 6, 8, 10, 12, 14));
  }
  copy_strided(block, to, 2, from, step, n);
}

inline void gather(Fixed<1> block, char* __restrict to, const char* __restrict from, std::ptrdiff_t step,
                   std::size_t n) {
  using Sixteen = Vector<char, 16>;
  if (step == 2) {
    for (; n > 16; n -= 16, to += 16, from += 32)
      store(to, __builtin_shufflevector(load<Sixteen>(from), load<Sixteen>(from + 16), 0, 2, 4, 6, 8, 10, 12, 14, 16,
                                        18, 20, 22, 24, 26, 28, 30));
  }
  copy_strided(block, to, 1, from, step, n);
}

}  // namespace ashlar::datatype
