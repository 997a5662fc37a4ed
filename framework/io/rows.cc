#include "framework/io/rows.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace ashlar::io {
namespace {

constexpr std::size_t kSpans = 256;

/// Takes the piece into the last row, where it goes on with that.
bool extend(Row* last, std::uint32_t at, std::uint32_t bytes) {
  if (last->bytes != bytes) return false;
  const std::uint32_t stride = at - (last->first + (last->count - 1) * last->stride);
  if (last->count > 1 && stride != last->stride) return false;
  last->stride = stride;
  ++last->count;
  return true;
}

std::uint64_t end_of(const Row& row) { return row.first + std::uint64_t{row.count - 1} * row.stride + row.bytes; }

}  // namespace

void list_rows(const datatype::Tiles& tiles, std::uint64_t from, std::uint64_t to, std::uint64_t begin,
               std::vector<Row>* out) {
  std::array<datatype::Span, kSpans> spans;
  const std::size_t before = out->size();
  while (from < to) {
    const std::size_t used = tiles.spans(from, to - from, kSpans, spans.data());
    for (std::size_t i = 0; i < used; ++i) {
      const auto at = static_cast<std::uint32_t>(static_cast<std::uint64_t>(spans[i].offset) - begin);
      const auto bytes = static_cast<std::uint32_t>(spans[i].bytes);
      from += spans[i].bytes;
      if (out->size() == before || !extend(&out->back(), at, bytes)) out->push_back({.first = at, .bytes = bytes});
    }
  }
}

bool good_rows(const Row* rows, std::size_t count, std::uint64_t bytes, std::uint64_t packed) {
  std::uint64_t end = 0, all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Row& row = rows[i];
    if (row.count == 0 || row.bytes == 0 || row.first < end || end_of(row) > bytes) return false;
    if (row.count > 1 && row.stride < row.bytes) return false;
    end = end_of(row);
    all += std::uint64_t{row.count} * row.bytes;
  }
  return all == packed;
}

void put_rows(const Row* rows, std::size_t count, const std::byte* packed, std::byte* window, Mask* mask) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t at = rows[i].first;
    for (std::uint32_t k = 0; k < rows[i].count; ++k, at += rows[i].stride, packed += rows[i].bytes)
      place(window, mask, at, packed, rows[i].bytes);
  }
}

std::uint64_t get_rows(const Row* rows, std::size_t count, const std::byte* window, std::uint64_t valid,
                       std::byte* packed) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t at = rows[i].first;
    for (std::uint32_t k = 0; k < rows[i].count; ++k, at += rows[i].stride) {
      const std::uint64_t there = at >= valid ? 0 : std::min<std::uint64_t>(rows[i].bytes, valid - at);
      std::memcpy(packed + all, window + at, there);
      all += there;
      if (there < rows[i].bytes) return all;
    }
  }
  return all;
}

}  // namespace ashlar::io
