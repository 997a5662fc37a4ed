#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/io/stream.h"

namespace ashlar::io {

/// Pieces of a window that are equally long and equally far from each other, as they travel between hosts. In bytes
/// from the window's begin on.
struct Row {
  std::uint32_t first = 0, bytes = 0;
  std::uint32_t stride = 0, count = 1;
};
/// Rows reach no further.
inline constexpr std::uint64_t kMostWindow = UINT32_MAX;

/// Appends the pieces of bytes [from, to) of the packed stream, which lie in the window of the file that begins at
/// `begin`; their order is kept.
void list_rows(const datatype::Tiles& tiles, std::uint64_t from, std::uint64_t to, std::uint64_t begin,
               std::vector<Row>* out);

/// Whether the rows lie in a window of `bytes` bytes, ascend, and have `packed` bytes: what another process sent.
bool good_rows(const Row* rows, std::size_t count, std::uint64_t bytes, std::uint64_t packed);

/// Copies packed bytes to their places in a window, and marks them.
void put_rows(const Row* rows, std::size_t count, const std::byte* packed, std::byte* window, Mask* mask);
/// The reverse. Returns how many of the packed bytes lie in front of `valid`, the end of what the window has.
std::uint64_t get_rows(const Row* rows, std::size_t count, const std::byte* window, std::uint64_t valid,
                       std::byte* packed);

}  // namespace ashlar::io
