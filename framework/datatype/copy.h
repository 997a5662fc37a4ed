#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "framework/base/prefetch.h"

/// The innermost loops of packing: copies of equally sized blocks between memory and the packed stream.
/// Every kernel is a template over the block, so that the copy of one block is a few moves without a branch.
namespace ashlar::datatype {

/// A block whose size the compiler knows.
template <std::size_t N>
struct Fixed {
  static constexpr std::size_t bytes() { return N; }
  static void copy(char* to, const char* from) { std::memcpy(to, from, N); }
};

/// N to 2N - 1 bytes: two copies of N bytes that overlap.
template <std::size_t N>
struct Twice {
  std::size_t size;
  std::size_t bytes() const { return size; }
  void copy(char* to, const char* from) const {
    struct Part {
      unsigned char byte[N];
    } low, high;
    std::memcpy(&low, from, N);
    std::memcpy(&high, from + size - N, N);
    std::memcpy(to, &low, N);
    std::memcpy(to + size - N, &high, N);
  }
};

/// Copies more than Step bytes, Step at a time, the last ones overlapping; cheaper than a call of memcpy for each block
/// up to the sizes where memcpy has better ways than loads and stores.
template <std::size_t Step>
struct Stepped {
  std::size_t size;
  std::size_t bytes() const { return size; }
  void copy(char* to, const char* from) const {
    std::size_t at = 0;
    for (; at + Step < size; at += Step) std::memcpy(to + at, from + at, Step);
    std::memcpy(to + size - Step, from + size - Step, Step);
  }
  /// The same, and prefetches `next`, which is written afterwards: such blocks wait for stores that miss the cache.
  void copy(char* to, const char* from, const char* next) const {
    std::size_t at = 0;
    for (; at + Step < size; at += Step) {
      prefetch_to_write(next + at);
      std::memcpy(to + at, from + at, Step);
    }
    prefetch_to_write(next + at);
    std::memcpy(to + size - Step, from + size - Step, Step);
  }
};

struct Long {
  std::size_t size;
  std::size_t bytes() const { return size; }
  void copy(char* to, const char* from) const { std::memcpy(to, from, size); }
};

/// Calls `use` with the block type for `bytes` > 0.
template <class Use>
[[gnu::always_inline]] inline auto with_block(std::size_t bytes, Use&& use) {
  switch (bytes) {
    case 1:
      return use(Fixed<1>{});
    case 2:
      return use(Fixed<2>{});
    case 3:
      return use(Twice<2>{3});
    case 4:
      return use(Fixed<4>{});
    case 8:
      return use(Fixed<8>{});
    case 12:
      return use(Fixed<12>{});
    case 16:
      return use(Fixed<16>{});
    case 24:
      return use(Fixed<24>{});
    case 32:
      return use(Fixed<32>{});
    case 48:
      return use(Fixed<48>{});
    case 64:
      return use(Fixed<64>{});
    default:
      break;
  }
  if (bytes < 8) return use(Twice<4>{bytes});
  if (bytes < 16) return use(Twice<8>{bytes});
  if (bytes < 32) return use(Twice<16>{bytes});
  if (bytes < 64) return use(Twice<32>{bytes});
  if (bytes < 192) return use(Stepped<32>{bytes});
  if (bytes < 2048) return use(Stepped<64>{bytes});
  return use(Long{bytes});
}

/// Copies `n` blocks; block i goes from from + i * from_step to to + i * to_step.
template <class Block>
inline void copy_strided(Block block, char* __restrict to, std::ptrdiff_t to_step, const char* __restrict from,
                         std::ptrdiff_t from_step, std::size_t n) {
  for (; n >= 4; n -= 4) {
    block.copy(to, from);
    block.copy(to + to_step, from + from_step);
    block.copy(to + 2 * to_step, from + 2 * from_step);
    block.copy(to + 3 * to_step, from + 3 * from_step);
    to += 4 * to_step;
    from += 4 * from_step;
  }
  for (; n > 0; --n) {
    block.copy(to, from);
    to += to_step;
    from += from_step;
  }
}

/// The same for blocks whose copy is a loop itself; each copy prefetches the place of the next one.
template <std::size_t Step>
inline void copy_strided(Stepped<Step> block, char* __restrict to, std::ptrdiff_t to_step, const char* __restrict from,
                         std::ptrdiff_t from_step, std::size_t n) {
  if (n == 0) return;
  for (; n > 1; --n, to += to_step, from += from_step) block.copy(to, from, to + to_step);
  block.copy(to, from);
}

/// The same for blocks that are read from pages of their own, which the hardware does not prefetch.
template <class Block>
inline void copy_far(Block block, char* __restrict to, std::ptrdiff_t to_step, const char* __restrict from,
                     std::ptrdiff_t from_step, std::size_t n) {
  constexpr std::ptrdiff_t kAhead = 16;
  for (; n > 0; --n, to += to_step, from += from_step) {
    __builtin_prefetch(from + kAhead * from_step);
    block.copy(to, from);
  }
}

/// Whether two neighbouring pieces of these sizes have a kernel that copies both in one pass.
constexpr bool paired(std::size_t bytes) {
  return bytes <= 16 && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 12 || bytes == 16);
}

template <class Use>
inline auto with_paired(std::size_t bytes, Use&& use) {
  switch (bytes) {
    case 1:
      return use(Fixed<1>{});
    case 2:
      return use(Fixed<2>{});
    case 4:
      return use(Fixed<4>{});
    case 8:
      return use(Fixed<8>{});
    case 12:
      return use(Fixed<12>{});
    default:
      return use(Fixed<16>{});
  }
}

/// 12 bytes with a store of 16, where the four behind are written afterwards anyway.
struct Over12 {
  static void copy(char* to, const char* from) {
    typedef long long Two __attribute__((vector_size(16)));
    std::uint64_t low;
    std::uint32_t high;
    std::memcpy(&low, from, sizeof low);
    std::memcpy(&high, from + sizeof low, sizeof high);
    const Two both = {static_cast<long long>(low), static_cast<long long>(high)};
    std::memcpy(to, &both, sizeof both);
  }
};

/// Two pieces per item: a struct's members around a hole. The second lies `to_second` and `from_second` further.
template <class First, class Second>
inline void copy_pairs(First first, Second second, char* __restrict to, std::ptrdiff_t to_step,
                       std::ptrdiff_t to_second, const char* __restrict from, std::ptrdiff_t from_step,
                       std::ptrdiff_t from_second, std::size_t n) {
  for (; n >= 2; n -= 2) {
    first.copy(to, from);
    second.copy(to + to_second, from + from_second);
    first.copy(to + to_step, from + from_step);
    second.copy(to + to_step + to_second, from + from_step + from_second);
    to += 2 * to_step;
    from += 2 * from_step;
  }
  if (n == 0) return;
  first.copy(to, from);
  second.copy(to + to_second, from + from_second);
}

/// Whether three neighbouring pieces of these sizes have a kernel that copies all in one pass.
constexpr bool tripled(std::size_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

template <class Use>
inline auto with_tripled(std::size_t bytes, Use&& use) {
  switch (bytes) {
    case 1:
      return use(Fixed<1>{});
    case 2:
      return use(Fixed<2>{});
    case 4:
      return use(Fixed<4>{});
    default:
      return use(Fixed<8>{});
  }
}

/// Where the second and the third piece of an item lie, from the first.
struct Triple {
  std::ptrdiff_t second, third;
};

template <class First, class Second, class Third>
inline void copy_triples(First first, Second second, Third third, char* __restrict to, std::ptrdiff_t to_step,
                         Triple to_at, const char* __restrict from, std::ptrdiff_t from_step, Triple from_at,
                         std::size_t n) {
  for (; n > 0; --n, to += to_step, from += from_step) {
    first.copy(to, from);
    second.copy(to + to_at.second, from + from_at.second);
    third.copy(to + to_at.third, from + from_at.third);
  }
}

/// A piece of any size: the branches of with_block for each piece. For runs of differing lengths.
inline void copy_piece(char* to, const char* from, std::size_t bytes) {
  if (bytes >= 16) {
    if (bytes <= 32) return Twice<16>{bytes}.copy(to, from);
    if (bytes <= 64) return Twice<32>{bytes}.copy(to, from);
    std::memcpy(to, from, bytes);
    return;
  }
  if (bytes >= 8) return Twice<8>{bytes}.copy(to, from);
  if (bytes >= 4) return Twice<4>{bytes}.copy(to, from);
  if (bytes >= 2) return Twice<2>{bytes}.copy(to, from);
  if (bytes == 1) *to = *from;
}

}  // namespace ashlar::datatype
