#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "framework/datatype/layout.h"

/// Makers of layouts. Each returns the simplest node that means the same, shared with an equal one if the cache knows
/// it. Set-up path; any thread.
namespace ashlar::datatype {

Placed make_empty();
Placed make_run(std::ptrdiff_t offset, std::size_t bytes);
/// `count` copies of `part`, `stride` bytes apart.
Placed make_strided(std::size_t count, std::ptrdiff_t stride, Placed part);
/// The parts one after the other.
Placed make_sequence(std::vector<Placed> parts);

/// Two or more copies of one layout, wherever each lies.
Placed make_indexed(const std::vector<Placed>& copies);

/// Collects contiguous pieces in packed order, joining neighbours, and makes the layout of all of them.
class RunCollector {
 public:
  void reserve(std::size_t runs) {
    if (runs > room_) grow(runs);
  }
  void add(std::ptrdiff_t offset, std::size_t bytes) {
    if (bytes == 0) return;
    if (offset != end_) {
      if (count_ == room_) [[unlikely]]
        grow(2 * room_ + 8);
      at_[count_] = offset;
      starts_[count_++] = static_cast<std::int64_t>(bytes_);
    }
    bytes_ += bytes;
    end_ = offset + static_cast<std::ptrdiff_t>(bytes);
  }
  /// Pieces 0 to n - 1 of length(i) bytes at offset at(i): the loop that a commit of many blocks is. What changes is
  /// kept in registers, and a piece is entered without a branch, to be overwritten when it only goes on.
  template <class Length, class At>
  void add_all(std::size_t n, Length&& length, At&& at) {
    reserve(count_ + n);
    std::int64_t* const __restrict places = at_.get();
    std::int64_t* const __restrict starts = starts_.get();
    std::size_t count = count_, total = bytes_;
    std::ptrdiff_t end = end_;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t bytes = length(i);
      if (bytes == 0) continue;
      const std::ptrdiff_t offset = at(i);
      places[count] = offset;
      starts[count] = static_cast<std::int64_t>(total);
      count += offset != end;
      total += bytes;
      end = offset + static_cast<std::ptrdiff_t>(bytes);
    }
    count_ = count;
    bytes_ = total;
    end_ = end;
  }
  /// All runs of `layout` lying at `offset`.
  void add(std::ptrdiff_t offset, const Layout& layout);
  std::size_t runs() const { return count_; }
  Placed finish();

 private:
  void grow(std::size_t room);

  std::unique_ptr<std::int64_t[]> at_, starts_;  // with room for one more than room_
  std::size_t count_ = 0, room_ = 0, bytes_ = 0;
  std::ptrdiff_t end_ = std::numeric_limits<std::ptrdiff_t>::min();  // of the last piece
};

/// Equal layouts become one: returns the cached node equal to `fresh`, or enters `fresh` and returns it.
LayoutRef share_equal(Layout* fresh);
/// Number of layouts alive, for tests.
std::size_t layouts_alive();

}  // namespace ashlar::datatype
