#pragma once
#include <cstddef>

#include "framework/datatype/layout.h"

/// The pieces of a layout, to be listed: in memory (runs.cc) or in a file (spans.cc).
namespace ashlar::datatype {

/// Calls add(at, bytes) for each piece of `l` at `at` (an address as a number, as of MPI_BOTTOM, or an offset) from
/// packed byte `first` on, in packed order, until it returns false; then so does this.
template <class At, class Add>
bool each_run(const Layout& l, At at, std::size_t first, Add& add) {
  switch (l.form) {
    case Layout::Form::kEmpty:
      return true;
    case Layout::Form::kRun:
      return add(at + static_cast<std::ptrdiff_t>(first), l.bytes - first);
    case Layout::Form::kStrided:
    case Layout::Form::kIndexed: {
      const std::size_t each = l.child->bytes;
      std::size_t into = first % each;
      for (std::size_t i = first / each; i < l.count; ++i, into = 0) {
        const std::ptrdiff_t by =
            l.form == Layout::Form::kStrided ? static_cast<std::ptrdiff_t>(i) * l.stride : l.displacement(i);
        if (!each_run(*l.child, at + by, into, add)) return false;
      }
      return true;
    }
    case Layout::Form::kBlocks:
    case Layout::Form::kSequence: {
      std::size_t i = l.part_at(first);
      std::size_t into = first - l.start(i);
      for (; i < l.count; ++i, into = 0) {
        const At part = at + l.displacement(i);
        if (l.form == Layout::Form::kSequence) {
          if (!each_run(*l.children[i], part, into, add)) return false;
        } else if (!add(part + static_cast<std::ptrdiff_t>(into), l.start(i + 1) - l.start(i) - into)) {
          return false;
        }
      }
      return true;
    }
  }
  return true;
}

}  // namespace ashlar::datatype
