#include "framework/rma/alignment.h"

#include <algorithm>

#include "framework/datatype/layout.h"
#include "framework/rma/whole.h"

namespace ashlar::rma {
namespace {

using datatype::Layout;

// The low bits of all distances from the first byte of an item to those of its runs.
template <class Number>
std::ptrdiff_t bits_of_table(const Layout& l) {
  Number bits = 0;
  const Number* displacements = l.displacements<Number>();
  for (std::size_t i = 0; i < l.count; ++i) bits = static_cast<Number>(bits | displacements[i]);
  return static_cast<std::ptrdiff_t>(bits);
}

std::ptrdiff_t bits_of(const Layout& l) {
  std::ptrdiff_t bits = 0;
  switch (l.form) {
    case Layout::Form::kEmpty:
    case Layout::Form::kRun:
      return 0;
    case Layout::Form::kStrided:
      return l.stride | bits_of(*l.child);
    case Layout::Form::kIndexed:
    case Layout::Form::kBlocks:
    case Layout::Form::kSequence:
      bits = l.wide ? bits_of_table<std::int64_t>(l) : bits_of_table<std::int32_t>(l);
      break;
  }
  if (l.form == Layout::Form::kIndexed) bits |= bits_of(*l.child);
  for (const datatype::LayoutRef& child : l.children) bits |= bits_of(*child);
  return bits;
}

}  // namespace

bool all_aligned(const DataView& view, std::size_t width) {
  if (view.dense()) return is_aligned(view.data, width);
  std::ptrdiff_t bits = reinterpret_cast<std::intptr_t>(datatype::first_byte(view.data, *view.type));
  if (view.count > 1) bits |= static_cast<std::ptrdiff_t>(view.type->extent());
  return ((bits | bits_of(view.type->layout())) & static_cast<std::ptrdiff_t>(width - 1)) == 0;
}

}  // namespace ashlar::rma
