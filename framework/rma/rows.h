#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "framework/rma/way.h"

/// The layout of a place in a form that another process understands: no pointers, and short for regular layouts.
namespace ashlar::rma {

/// `count` blocks of `block` bytes each, `stride` bytes apart; the first lies at `offset` of the target's window.
struct Row {
  std::int64_t offset = 0;
  std::int64_t stride = 0;
  std::uint64_t block = 0;
  std::uint64_t count = 0;
};

/// The rows of packed bytes [first, first + most) of `place`, in packed order, as far as `out` has room. Returns how
/// many; *bytes: how many packed bytes they have.
std::size_t list_rows(const Place& place, std::size_t first, std::size_t most, std::span<Row> out, std::size_t* bytes);

/// Where packed bytes of rows lie in memory, one after the other.
class RowCursor {
 public:
  /// `window`: where the window begins in this process.
  RowCursor(std::span<const Row> rows, std::byte* window) : rows_(rows), window_(window) {}
  /// The next bytes go to `packed`, or come from there. There are as many.
  void gather(std::byte* packed, std::size_t bytes);
  void scatter(const std::byte* packed, std::size_t bytes);

 private:
  template <class Copy>
  void move(std::size_t bytes, Copy copy);

  std::span<const Row> rows_;
  std::byte* const window_;
  std::uint64_t block_ = 0, into_ = 0;  // of the first row: blocks, and bytes of the next one, that are done
};

}  // namespace ashlar::rma
