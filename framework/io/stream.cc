#include "framework/io/stream.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace ashlar::io {
namespace {

using datatype::Row;
using datatype::Span;

constexpr std::size_t kSpans = 256;
constexpr std::size_t kBounce = 16 * 1024;
constexpr std::uint64_t kShort = 16;  // bytes of a piece: longer ones are marked as they are copied

/// The usual pieces of scattered data are a number or a few.
inline void copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  switch (bytes) {
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    default:
      std::memcpy(to, from, bytes);
  }
}

/// A byte of the mask of which others may mark other bits at the same time.
void mark_some(std::uint8_t* byte, std::uint64_t first, std::uint64_t bits) {
  const auto which = static_cast<std::uint8_t>(((1u << bits) - 1u) << first);
  std::atomic_ref<std::uint8_t>(*byte).fetch_or(which, std::memory_order_relaxed);
}

// Bits of a byte that are all of one piece are stored without a look at what is there.
void mark(Mask* mask, std::uint64_t at, std::uint64_t bytes) {
  auto* const bits = reinterpret_cast<std::uint8_t*>(mask);
  const std::uint64_t head = std::min(bytes, (8 - at % 8) % 8);
  if (head != 0) mark_some(bits + at / 8, at % 8, head);
  at += head;
  bytes -= head;
  if (bytes == 8) {
    bits[at / 8] = 0xff;
    return;
  }
  std::memset(bits + at / 8, 0xff, bytes / 8);
  at += bytes / 8 * 8;
  if (bytes % 8 != 0) mark_some(bits + at / 8, 0, bytes % 8);
}

/// Pieces in memory, from one to the next `step` bytes.
template <class Byte>
struct Side {
  Byte* begin;
  std::int64_t step;
  Byte* operator[](std::uint64_t i) const { return begin + static_cast<std::int64_t>(i) * step; }
};

template <std::uint64_t kBytes>
void copy_each(Side<std::byte> to, Side<const std::byte> from, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(to[i], from[i], kBytes);
}

/// `count` pieces of `bytes` bytes: the size is a constant in the loops for the usual ones.
[[gnu::always_inline]] inline void copy_row(Side<std::byte> to, Side<const std::byte> from, std::uint64_t bytes,
                                            std::uint64_t count) {
  switch (bytes) {
    case 4:
      copy_each<4>(to, from, count);
      return;
    case 8:
      copy_each<8>(to, from, count);
      return;
    case 16:
      copy_each<16>(to, from, count);
      return;
    default:
      for (std::uint64_t i = 0; i < count; ++i) std::memcpy(to[i], from[i], bytes);
  }
}

/// Calls copy(row, memory) for the pieces of stream bytes [first, last), whose packed bytes are at `memory`.
template <class Copy>
void each_row(const datatype::Tiles& tiles, std::uint64_t first, std::uint64_t last, std::byte* memory, Copy copy) {
  std::array<Span, kSpans> spans;
  while (first < last) {
    Row row = tiles.row(first);
    const std::uint64_t whole = row.bytes == 0 ? 0 : std::min(row.count, (last - first) / row.bytes);
    if (whole > 0) {
      row.count = whole;
      copy(row, memory);
      memory += whole * row.bytes;
      first += whole * row.bytes;
      continue;
    }
    const std::size_t used = tiles.spans(first, last - first, row.bytes == 0 ? kSpans : 1, spans.data());
    for (std::size_t i = 0; i < used; ++i) {
      copy(Row{.offset = spans[i].offset, .bytes = spans[i].bytes, .stride = 0, .count = 1}, memory);
      memory += spans[i].bytes;
      first += spans[i].bytes;
    }
  }
}

}  // namespace

void place(std::byte* window, Mask* mask, std::uint64_t at, const std::byte* piece, std::uint64_t bytes) {
  copy(window + at, piece, bytes);
  if (mask != nullptr) mark(mask, at, bytes);
}

void Stream::between(std::uint64_t begin, std::uint64_t end, std::uint64_t* first, std::uint64_t* last) const {
  *first = std::clamp(tiles->below(static_cast<std::int64_t>(begin)), from, to);
  *last = std::clamp(tiles->below(static_cast<std::int64_t>(end)), from, to);
}

void Stream::put(std::uint64_t begin, std::uint64_t end, std::byte* window, Mask* mask) const {
  std::uint64_t first = 0, last = 0;
  between(begin, end, &first, &last);
  const auto one = [&](const Row& row, const std::byte* memory) {
    const std::uint64_t at = static_cast<std::uint64_t>(row.offset) - begin;
    const Side<std::byte> there = {window + at, row.stride};
    const Side<const std::byte> here = {memory, static_cast<std::int64_t>(row.bytes)};
    if (mask == nullptr || row.bytes <= kShort) copy_row(there, here, row.bytes, row.count);
    if (mask == nullptr) return;
    for (std::uint64_t i = 0; i < row.count; ++i) {
      if (row.bytes > kShort) std::memcpy(there[i], here[i], row.bytes);
      mark(mask, static_cast<std::uint64_t>(there[i] - window), row.bytes);
    }
  };
  if (buffer.dense()) {
    each_row(*tiles, first, last, static_cast<std::byte*>(buffer.data) + (first - from), one);
    return;
  }
  std::array<std::byte, kBounce> bounce;
  while (first < last) {
    const std::uint64_t now = std::min<std::uint64_t>(kBounce, last - first);
    datatype::pack(buffer, first - from, bounce.data(), now);
    each_row(*tiles, first, first + now, bounce.data(), one);
    first += now;
  }
}

std::uint64_t Stream::get(std::uint64_t begin, std::uint64_t end, std::uint64_t valid_end,
                          const std::byte* window) const {
  std::uint64_t first = 0, last = 0;
  between(begin, std::min(end, valid_end), &first, &last);
  const std::uint64_t all = last - first;
  const auto one = [&](const Row& row, std::byte* memory) {
    const std::byte* const from_window = window + (static_cast<std::uint64_t>(row.offset) - begin);
    copy_row({memory, static_cast<std::int64_t>(row.bytes)}, {from_window, row.stride}, row.bytes, row.count);
  };
  if (buffer.dense()) {
    each_row(*tiles, first, last, static_cast<std::byte*>(buffer.data) + (first - from), one);
    return all;
  }
  std::array<std::byte, kBounce> bounce;
  while (first < last) {
    const std::uint64_t now = std::min<std::uint64_t>(kBounce, last - first);
    each_row(*tiles, first, first + now, bounce.data(), one);
    datatype::unpack(buffer, first - from, bounce.data(), now);
    first += now;
  }
  return all;
}

}  // namespace ashlar::io
