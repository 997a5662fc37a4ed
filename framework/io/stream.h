#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/base/status.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/spans.h"

namespace ashlar::io {

/// Whose bytes of a window are there: a bit for each byte, from the window's begin on, which is a multiple of 64.
/// Several processes mark at once.
using Mask = std::uint64_t;
constexpr std::uint64_t mask_bytes(std::uint64_t window) { return (window + 63) / 64 * sizeof(Mask); }

/// Copies a piece to byte `at` of a window, and marks it in `mask` (nullptr: does not).
void place(std::byte* window, Mask* mask, std::uint64_t at, const std::byte* piece, std::uint64_t bytes);

/// The part of a view that an access moves, and the memory that it is moved from or to. Pieces of the view ascend.
struct Stream {
  const datatype::Tiles* tiles = nullptr;
  std::uint64_t from = 0, to = 0;  // bytes of the view's packed stream
  DataView buffer;

  /// The bytes of the stream that lie in [begin, end) of the file.
  void between(std::uint64_t begin, std::uint64_t end, std::uint64_t* first, std::uint64_t* last) const;
  /// Copies them into a window of the file that begins at `begin`, and marks them in `mask` (nullptr: does not).
  void put(std::uint64_t begin, std::uint64_t end, std::byte* window, Mask* mask) const;
  /// Copies those of them that lie in front of `valid_end` to memory; returns how many.
  std::uint64_t get(std::uint64_t begin, std::uint64_t end, std::uint64_t valid_end, const std::byte* window) const;
};

}  // namespace ashlar::io
