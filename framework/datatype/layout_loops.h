#pragma once
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "framework/datatype/copy.h"
#include "framework/datatype/gather.h"
#include "framework/datatype/layout.h"
#include "framework/datatype/repeat.h"

/// Walks a layout and moves bytes between memory ("user") and the packed stream. One text for both directions.
///
/// Three kinds of work:
///   whole()  n items, each `user_step` apart in memory and `packed_step` apart in the stream
///   range()  parts [first, first + n) of one item
///   part()   packed bytes [first, first + n) of one item: a broken part at either end, whole parts between
///
/// The long dimension goes inside: many items with few parts each are done part by part, in tiles that stay in the
/// cache, so that the inner loop is always a strided copy of equal blocks and no branch depends on the data.
namespace ashlar::datatype {

template <bool kPack>
class LayoutLoops {
 public:
  using User = std::conditional_t<kPack, const char*, char*>;
  using Packed = std::conditional_t<kPack, char*, const char*>;

  static void whole(const Layout& l, User user, Packed packed, std::size_t n, std::ptrdiff_t user_step,
                    std::ptrdiff_t packed_step) {
    switch (l.form) {
      case Layout::Form::kEmpty:
        return;
      case Layout::Form::kRun:
        return blocks(l.bytes, user, packed, n, user_step, packed_step);
      case Layout::Form::kStrided: {
        if (l.child->form == Layout::Form::kRun) {
          const std::size_t parts = l.count;
          const std::ptrdiff_t stride = l.stride;
          return with_block(l.child->bytes,
                            [=](auto block) { grid(block, user, packed, n, user_step, packed_step, parts, stride); });
        }
        if (n >= kFew && l.count < kManyParts) return by_part(l, user, packed, n, user_step, packed_step);
        const auto child_bytes = static_cast<std::ptrdiff_t>(l.child->bytes);
        for (std::size_t i = 0; i < n; ++i, user += user_step, packed += packed_step)
          whole(*l.child, user, packed, l.count, l.stride, child_bytes);
        return;
      }
      case Layout::Form::kBlocks:
        if (l.shortcut == Layout::Shortcut::kTriples) return triples(l, user, packed, n, user_step, packed_step);
        if (l.shortcut == Layout::Shortcut::kPairs && packed_step == static_cast<std::ptrdiff_t>(l.bytes))
          return pair_of(l, user, packed, n, user_step);
        [[fallthrough]];
      case Layout::Form::kIndexed:
      case Layout::Form::kSequence:
        if (n >= kFew && l.count < kManyParts) return by_part(l, user, packed, n, user_step, packed_step);
        for (std::size_t i = 0; i < n; ++i, user += user_step, packed += packed_step)
          range(l, user, packed, 0, l.count);
        return;
    }
  }

  static void part(const Layout& l, User user, Packed packed, std::size_t first, std::size_t n) {
    if (n == 0) return;
    if (l.form == Layout::Form::kRun) return move(user + first, packed, n);
    const bool even = l.form == Layout::Form::kStrided || l.form == Layout::Form::kIndexed;
    std::size_t i = even ? first / l.child->bytes : l.part_at(first);
    std::size_t into = first - start_of(l, i);
    if (into > 0) {
      const std::size_t take = std::min(n, start_of(l, i + 1) - start_of(l, i) - into);
      broken(l, i, user, packed, into, take);
      packed += take;
      n -= take;
      first += take;
      ++i;
    }
    if (n == 0) return;
    const std::size_t last = first + n == l.bytes ? l.count
                             : even               ? (first + n) / l.child->bytes
                                                  : l.part_at(first + n);
    range(l, user, packed, i, last - i);
    const std::size_t done = start_of(l, last) - first;
    if (n > done) broken(l, last, user, packed + done, 0, n - done);
  }

  /// `n` items that follow each other in the stream: whole() by the shortcut, for small messages. Inlined, with the
  /// loops out of line, so that what chooses a loop is a few comparisons and a jump without a stack frame.
  [[gnu::always_inline]] static void all(const Layout& l, User user, Packed packed, std::size_t n,
                                         std::ptrdiff_t step) {
    switch (l.shortcut) {
      case Layout::Shortcut::kRow: {
        const std::size_t parts = l.count;
        const std::ptrdiff_t stride = l.stride;
        if (n != 1) break;
        return with_block(l.child->bytes, [=](auto block) { row(block, user, packed, parts, stride); });
      }
      case Layout::Shortcut::kScattered: {
        if (n != 1 || l.wide) break;
        const std::size_t parts = l.count;
        const auto* const at = l.displacements<std::int32_t>();
        return with_block(l.child->bytes, [=](auto block) { scattered(block, at, user, packed, parts); });
      }
      case Layout::Shortcut::kPairs:
        return pair_of(l, user, packed, n, step);
      case Layout::Shortcut::kTriples:
      case Layout::Shortcut::kNone:
        break;
    }
    other(l, user, packed, n, step);
  }

  /// part() of `count` items that are `extent` apart.
  static void items(const Layout& l, User user, Packed packed, std::size_t first, std::size_t n,
                    std::ptrdiff_t extent) {
    if (n == l.bytes && first == 0) return all(l, user, packed, 1, extent);  // spares a division
    std::size_t i = 0;
    if (first > 0) {
      i = first / l.bytes;
      const std::size_t into = first - i * l.bytes;
      if (into > 0) {
        const std::size_t take = std::min(n, l.bytes - into);
        part(l, user + static_cast<std::ptrdiff_t>(i) * extent, packed, into, take);
        packed += take;
        n -= take;
        ++i;
      }
    }
    if (n == 0) return;
    const std::size_t full = n / l.bytes;
    user += static_cast<std::ptrdiff_t>(i) * extent;
    if (full > 0) all(l, user, packed, full, extent);
    const std::size_t rest = n - full * l.bytes;
    if (rest > 0) part(l, user + static_cast<std::ptrdiff_t>(full) * extent, packed + full * l.bytes, 0, rest);
  }

 private:
  static constexpr std::size_t kFew = 4;         // fewer items than this are not worth a second loop order
  static constexpr std::size_t kManyParts = 32;  // from here on the parts themselves make a good inner loop
  static constexpr std::size_t kFewRuns = 8;     // the same for equal runs, whose inner loop has no other cost
  static constexpr std::size_t kTileBytes = 16 * 1024;
  static constexpr std::size_t kFarBlock = 64, kFarStep = 1024;  // the hardware prefetches no such steps
  static constexpr std::size_t kFarSpan = 1024 * 1024;  // and smaller matrices are in its cache, where a prefetch costs

  [[gnu::noinline]] static void other(const Layout& l, User user, Packed packed, std::size_t n, std::ptrdiff_t step) {
    whole(l, user, packed, n, step, static_cast<std::ptrdiff_t>(l.bytes));
  }

  // One item that is a row of equal blocks.
  template <class Block>
  [[gnu::noinline]] static void row(Block block, User user, Packed packed, std::size_t n, std::ptrdiff_t stride) {
    strided(block, user, packed, n, stride, static_cast<std::ptrdiff_t>(block.bytes()));
  }

  // n items of `parts` equal blocks. The packed stream is written item by item (rows), unless an item has few blocks:
  // then block by block, for a tile of items at a time (columns). Everything goes by value into the loops: what a
  // lambda captures by reference would be reloaded after every store.
  template <class Block>
  static void grid(Block block, User user, Packed packed, std::size_t n, std::ptrdiff_t user_step,
                   std::ptrdiff_t packed_step, std::size_t parts, std::ptrdiff_t stride) {
    if (n >= kFew && parts < kFewRuns) return columns(block, user, packed, n, user_step, packed_step, parts, stride);
    rows(block, user, packed, n, user_step, packed_step, parts, stride);
  }

  template <class Block, class Number>
  [[gnu::noinline]] static void scattered(Block block, const Number* __restrict at, User __restrict user,
                                          Packed __restrict packed, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i, packed += block.bytes()) {
      if constexpr (kPack) {
        block.copy(packed, user + at[i]);
      } else {
        place(block, user + at[i], packed);
      }
    }
  }

  // Items of two blocks, the second `further` along in memory. Twelve bytes are stored as sixteen where the next item
  // is written afterwards.
  template <class First, class Second>
  [[gnu::noinline]] static void pair_items(First first, Second second, std::ptrdiff_t further, User user, Packed packed,
                                           std::size_t n, std::ptrdiff_t user_step) {
    constexpr auto kBehind = static_cast<std::ptrdiff_t>(First::bytes());
    constexpr std::ptrdiff_t kItem = kBehind + static_cast<std::ptrdiff_t>(Second::bytes());
    if constexpr (!kPack) {
      copy_pairs(first, second, user, user_step, further, packed, kItem, kBehind, n);
    } else if constexpr (Second::bytes() == 12) {
      if (n == 0) return;
      copy_pairs(first, Over12{}, packed, kItem, kBehind, user, user_step, further, n - 1);
      const auto last = static_cast<std::ptrdiff_t>(n) - 1;
      copy_pairs(first, second, packed + last * kItem, kItem, kBehind, user + last * user_step, user_step, further, 1);
    } else {
      copy_pairs(first, second, packed, kItem, kBehind, user, user_step, further, n);
    }
  }

  // Items of three blocks, which lie at 0 and `at`.
  template <class A, class B, class C>
  static void triple_items(A a, B b, C c, Triple at, User user, Packed packed, std::size_t n, std::ptrdiff_t user_step,
                           std::ptrdiff_t packed_step) {
    constexpr auto kSecond = static_cast<std::ptrdiff_t>(A::bytes());
    constexpr Triple kBehind{kSecond, kSecond + static_cast<std::ptrdiff_t>(B::bytes())};
    if constexpr (kPack) {
      copy_triples(a, b, c, packed, packed_step, kBehind, user, user_step, at, n);
    } else {
      copy_triples(a, b, c, user, user_step, at, packed, packed_step, kBehind, n);
    }
  }

  static void pair_of(const Layout& l, User user, Packed packed, std::size_t n, std::ptrdiff_t step) {
    const std::ptrdiff_t further = l.displacement(1);
    const std::size_t bytes = l.start(1), next = l.bytes - bytes;
    with_paired(bytes, [=](auto first) {
      with_paired(next, [=](auto second) { pair_items(first, second, further, user, packed, n, step); });
    });
  }

  static std::size_t distance(std::ptrdiff_t step) { return static_cast<std::size_t>(step < 0 ? -step : step); }

  static void move(User user, Packed packed, std::size_t n) {
    if constexpr (kPack) {
      std::memcpy(packed, user, n);
    } else {
      spread(user, packed, n);
    }
  }

  template <class Block>
  static void place(Block block, char* to, const char* from) {
    if constexpr (std::is_same_v<Block, Long>) {
      spread(to, from, block.size);
    } else {
      block.copy(to, from);
    }
  }

  template <class Block>
  static void strided(Block block, User user, Packed packed, std::size_t n, std::ptrdiff_t user_step,
                      std::ptrdiff_t packed_step) {
    if constexpr (kPack) {
      if (block.bytes() <= kFarBlock && distance(user_step) >= kFarStep && n * distance(user_step) >= kFarSpan)
        return copy_far(block, packed, packed_step, user, user_step, n);
      if constexpr (kGathers<Block>) {
        if (packed_step == static_cast<std::ptrdiff_t>(block.bytes())) return gather(block, packed, user, user_step, n);
      }
      copy_strided(block, packed, packed_step, user, user_step, n);
    } else if constexpr (std::is_same_v<Block, Long>) {
      for (; n > 0; --n, user += user_step, packed += packed_step) place(block, user, packed);
    } else {
      copy_strided(block, user, user_step, packed, packed_step, n);
    }
  }

  static void blocks(std::size_t bytes, User user, Packed packed, std::size_t n, std::ptrdiff_t user_step,
                     std::ptrdiff_t packed_step) {
    if (n == 1) return move(user, packed, bytes);
    if (user_step == packed_step && user_step == static_cast<std::ptrdiff_t>(bytes))
      return move(user, packed, bytes * n);
    with_block(bytes, [=](auto block) { strided(block, user, packed, n, user_step, packed_step); });
  }

  template <class Block>
  static void rows(Block block, User user, Packed packed, std::size_t n, std::ptrdiff_t user_step,
                   std::ptrdiff_t packed_step, std::size_t parts, std::ptrdiff_t stride) {
    const auto bytes = static_cast<std::ptrdiff_t>(block.bytes());
    for (std::size_t i = 0; i < n; ++i, user += user_step, packed += packed_step)
      strided(block, user, packed, parts, stride, bytes);
  }

  template <class Block>
  static void columns(Block block, User user, Packed packed, std::size_t n, std::ptrdiff_t user_step,
                      std::ptrdiff_t packed_step, std::size_t parts, std::ptrdiff_t stride) {
    const std::size_t tile = std::max<std::size_t>(kTileBytes / (distance(user_step) + parts * block.bytes()), 8);
    const auto bytes = static_cast<std::ptrdiff_t>(block.bytes());
    while (n > 0) {
      const std::size_t now = std::min(n, tile);
      for (std::size_t i = 0; i < parts; ++i) {
        const auto k = static_cast<std::ptrdiff_t>(i);
        strided(block, user + k * stride, packed + k * bytes, now, user_step, packed_step);
      }
      user += static_cast<std::ptrdiff_t>(now) * user_step;
      packed += static_cast<std::ptrdiff_t>(now) * packed_step;
      n -= now;
    }
  }

  // Two neighbouring runs of each item, the second `further` along in memory and right behind the first in the stream.
  static void pairs(std::size_t bytes, std::size_t next, std::ptrdiff_t further, User user, Packed packed,
                    std::size_t n, std::ptrdiff_t user_step, std::ptrdiff_t packed_step) {
    with_paired(bytes, [=](auto first) {
      with_paired(next, [=](auto second) {
        constexpr auto kBehind = static_cast<std::ptrdiff_t>(decltype(first)::bytes());
        if constexpr (kPack) {
          copy_pairs(first, second, packed, packed_step, kBehind, user, user_step, further, n);
        } else {
          copy_pairs(first, second, user, user_step, further, packed, packed_step, kBehind, n);
        }
      });
    });
  }

  // Three runs per item: a struct of three members.
  static void triples(const Layout& l, User user, Packed packed, std::size_t n, std::ptrdiff_t user_step,
                      std::ptrdiff_t packed_step) {
    const Triple at{l.displacement(1), l.displacement(2)};
    with_tripled(l.start(1), [=, &l](auto a) {
      with_tripled(l.start(2) - l.start(1), [=, &l](auto b) {
        with_tripled(l.start(3) - l.start(2),
                     [=](auto c) { triple_items(a, b, c, at, user, packed, n, user_step, packed_step); });
      });
    });
  }
  // Few parts, many items: in tiles of items, each part for all items of the tile.
  static void by_part(const Layout& l, User user, Packed packed, std::size_t n, std::ptrdiff_t user_step,
                      std::ptrdiff_t packed_step) {
    const std::size_t tile = std::max<std::size_t>(kTileBytes / (distance(user_step) + l.bytes), 8);
    while (n > 0) {
      const std::size_t now = std::min(n, tile);
      for (std::size_t i = 0; i < l.count; ++i) {
        const std::ptrdiff_t at = displacement_of(l, i);
        const std::size_t start = start_of(l, i);
        if (l.form == Layout::Form::kBlocks) {
          const std::size_t bytes = l.start(i + 1) - start;
          const std::size_t next = i + 1 < l.count ? l.start(i + 2) - l.start(i + 1) : 0;
          if (paired(bytes) && paired(next)) {
            ++i;
            pairs(bytes, next, l.displacement(i) - at, user + at, packed + start, now, user_step, packed_step);
          } else {
            blocks(bytes, user + at, packed + start, now, user_step, packed_step);
          }
        } else {
          whole(l.form == Layout::Form::kSequence ? *l.children[i] : *l.child, user + at, packed + start, now,
                user_step, packed_step);
        }
      }
      user += static_cast<std::ptrdiff_t>(now) * user_step;
      packed += static_cast<std::ptrdiff_t>(now) * packed_step;
      n -= now;
    }
  }

  static void range(const Layout& l, User user, Packed packed, std::size_t first, std::size_t n) {
    switch (l.form) {
      case Layout::Form::kEmpty:
      case Layout::Form::kRun:
        return;
      case Layout::Form::kStrided:
        return whole(*l.child, user + static_cast<std::ptrdiff_t>(first) * l.stride, packed, n, l.stride,
                     static_cast<std::ptrdiff_t>(l.child->bytes));
      case Layout::Form::kIndexed:
        if (l.wide) return indexed(l, l.displacements<std::int64_t>() + first, user, packed, n);
        return indexed(l, l.displacements<std::int32_t>() + first, user, packed, n);
      case Layout::Form::kBlocks:
        if (l.wide)
          return pieces(l.displacements<std::int64_t>() + first, l.starts<std::int64_t>() + first, user, packed, n);
        return pieces(l.displacements<std::int32_t>() + first, l.starts<std::int32_t>() + first, user, packed, n);
      case Layout::Form::kSequence:
        for (std::size_t i = first; i < first + n; ++i) {
          const Layout& child = *l.children[i];
          whole(child, user + l.displacement(i), packed, 1, 0, 0);
          packed += child.bytes;
        }
        return;
    }
  }

  template <class Number>
  static void indexed(const Layout& l, const Number* at, User user, Packed packed, std::size_t n) {
    const Layout& child = *l.child;
    if (child.form != Layout::Form::kRun) {
      for (std::size_t i = 0; i < n; ++i, packed += child.bytes) whole(child, user + at[i], packed, 1, 0, 0);
      return;
    }
    with_block(child.bytes, [=](auto block) { scattered(block, at, user, packed, n); });
  }

  template <class Number>
  static void pieces(const Number* at, const Number* start, User user, Packed packed, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto bytes = static_cast<std::size_t>(start[i + 1] - start[i]);
      if constexpr (kPack) {
        copy_piece(packed, user + at[i], bytes);
      } else {
        if (bytes >= kRepeatFrom) {
          spread(user + at[i], packed, bytes);
        } else {
          copy_piece(user + at[i], packed, bytes);
        }
      }
      packed += bytes;
    }
  }

  static std::size_t start_of(const Layout& l, std::size_t i) {
    const bool even = l.form == Layout::Form::kStrided || l.form == Layout::Form::kIndexed;
    return even ? i * l.child->bytes : l.start(i);
  }
  static std::ptrdiff_t displacement_of(const Layout& l, std::size_t i) {
    return l.form == Layout::Form::kStrided ? static_cast<std::ptrdiff_t>(i) * l.stride : l.displacement(i);
  }
  // Bytes [into, into + n) of part i.
  static void broken(const Layout& l, std::size_t i, User user, Packed packed, std::size_t into, std::size_t n) {
    user += displacement_of(l, i);
    if (l.form == Layout::Form::kBlocks) return move(user + into, packed, n);
    part(l.form == Layout::Form::kSequence ? *l.children[i] : *l.child, user, packed, into, n);
  }
};

}  // namespace ashlar::datatype
