#include "framework/io/stream.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace ashlar::io {
namespace {

using datatype::Span;

constexpr std::size_t kSpans = 256;
constexpr std::size_t kBounce = 16 * 1024;

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

/// Calls one(place in the file, memory, bytes) for the pieces of stream bytes [first, last), whose packed bytes are at
/// `memory`.
template <class One>
void each_piece(const datatype::Tiles& tiles, std::uint64_t first, std::uint64_t last, std::byte* memory, One one) {
  std::array<Span, kSpans> spans;
  while (first < last) {
    const std::size_t used = tiles.spans(first, last - first, kSpans, spans.data());
    for (std::size_t i = 0; i < used; ++i) {
      one(static_cast<std::uint64_t>(spans[i].offset), memory, spans[i].bytes);
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
  const auto one = [&](std::uint64_t offset, const std::byte* memory, std::uint64_t bytes) {
    copy(window + (offset - begin), memory, bytes);
    if (mask != nullptr) mark(mask, offset - begin, bytes);
  };
  if (buffer.dense()) {
    each_piece(*tiles, first, last, static_cast<std::byte*>(buffer.data) + (first - from), one);
    return;
  }
  std::array<std::byte, kBounce> bounce;
  while (first < last) {
    const std::uint64_t now = std::min<std::uint64_t>(kBounce, last - first);
    datatype::pack(buffer, first - from, bounce.data(), now);
    each_piece(*tiles, first, first + now, bounce.data(), one);
    first += now;
  }
}

std::uint64_t Stream::get(std::uint64_t begin, std::uint64_t end, std::uint64_t valid_end,
                          const std::byte* window) const {
  std::uint64_t first = 0, last = 0;
  between(begin, std::min(end, valid_end), &first, &last);
  const std::uint64_t all = last - first;
  const auto one = [&](std::uint64_t offset, std::byte* memory, std::uint64_t bytes) {
    copy(memory, window + (offset - begin), bytes);
  };
  if (buffer.dense()) {
    each_piece(*tiles, first, last, static_cast<std::byte*>(buffer.data) + (first - from), one);
    return all;
  }
  std::array<std::byte, kBounce> bounce;
  while (first < last) {
    const std::uint64_t now = std::min<std::uint64_t>(kBounce, last - first);
    each_piece(*tiles, first, first + now, bounce.data(), one);
    datatype::unpack(buffer, first - from, bounce.data(), now);
    first += now;
  }
  return all;
}

}  // namespace ashlar::io
