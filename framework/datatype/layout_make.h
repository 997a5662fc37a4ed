#pragma once
#include <cstddef>
#include <cstdint>
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
  void reserve(std::size_t runs) { runs_.reserve(runs); }
  void add(std::ptrdiff_t offset, std::size_t bytes) {
    if (bytes == 0) return;
    if (!runs_.empty() && runs_.back().offset + static_cast<std::ptrdiff_t>(runs_.back().bytes) == offset) {
      runs_.back().bytes += bytes;
    } else {
      runs_.push_back({offset, bytes});
    }
  }
  /// All runs of `layout` lying at `offset`.
  void add(std::ptrdiff_t offset, const Layout& layout);
  std::size_t runs() const { return runs_.size(); }
  Placed finish();

 private:
  struct Run {
    std::ptrdiff_t offset;
    std::size_t bytes;
  };
  std::vector<Run> runs_;
};

/// Equal layouts become one: returns the cached node equal to `fresh`, or enters `fresh` and returns it.
LayoutRef share_equal(Layout* fresh);
/// Number of layouts alive, for tests.
std::size_t layouts_alive();

}  // namespace ashlar::datatype
