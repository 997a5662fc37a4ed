#include "framework/datatype/layout_make.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ashlar::datatype {
namespace {

// A sequence of few runs is flattened: one table is faster to walk than a tree.
constexpr std::size_t kFlattenRuns = 64;

using Form = Layout::Form;

std::uint16_t deeper(std::uint16_t depth) { return depth == 0xffff ? depth : static_cast<std::uint16_t>(depth + 1); }

// Writes `count` displacements and, when given, count + 1 starts, in 32 bits when all fit.
template <class Displacement, class Start>
void fill_table(Layout& l, std::size_t count, Displacement&& displacement, Start&& start, bool with_starts) {
  constexpr std::ptrdiff_t kLow = std::numeric_limits<std::int32_t>::min();
  constexpr std::ptrdiff_t kHigh = std::numeric_limits<std::int32_t>::max();
  l.count = count;
  l.wide = with_starts && l.bytes > static_cast<std::size_t>(kHigh);
  for (std::size_t i = 0; i < count && !l.wide; ++i) l.wide = displacement(i) < kLow || displacement(i) > kHigh;
  const std::size_t numbers = count + (with_starts ? count + 1 : 0);
  const auto fill = [&]<class Number>(Number) {
    l.table = std::make_unique_for_overwrite<std::byte[]>(numbers * sizeof(Number));
    auto* out = reinterpret_cast<Number*>(l.table.get());
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Number>(displacement(i));
    if (!with_starts) return;
    for (std::size_t i = 0; i <= count; ++i) out[count + i] = static_cast<Number>(start(i));
  };
  if (l.wide) {
    fill(std::int64_t{});
  } else {
    fill(std::int32_t{});
  }
}

}  // namespace

std::size_t Layout::part_at(std::size_t at) const {
  const auto find = [&]<class Number>(const Number* first) {
    return static_cast<std::size_t>(std::upper_bound(first, first + count, static_cast<Number>(at)) - first) - 1;
  };
  return wide ? find(starts<std::int64_t>()) : find(starts<std::int32_t>());
}

Placed make_empty() {
  auto* l = new Layout;
  l->count = 0;
  return {0, share_equal(l)};
}

Placed make_run(std::ptrdiff_t offset, std::size_t bytes) {
  if (bytes == 0) return make_empty();
  auto* l = new Layout;
  l->form = Form::kRun;
  l->bytes = bytes;
  l->runs = 1;
  return {offset, share_equal(l)};
}

Placed make_strided(std::size_t count, std::ptrdiff_t stride, Placed part) {
  const Layout& child = *part.layout;
  if (count == 0 || child.form == Form::kEmpty) return make_empty();
  if (count == 1) return part;
  if (child.form == Form::kRun && stride == static_cast<std::ptrdiff_t>(child.bytes))
    return make_run(part.offset, child.bytes * count);
  // A strided row that goes on where the row before ended is one longer row.
  if (child.form == Form::kStrided && stride == child.stride * static_cast<std::ptrdiff_t>(child.count))
    return make_strided(child.count * count, child.stride, {part.offset, child.child});
  auto* l = new Layout;
  l->form = Form::kStrided;
  l->count = count;
  l->stride = stride;
  l->bytes = child.bytes * count;
  l->runs = child.runs * count;
  l->depth = deeper(child.depth);
  l->child = part.layout;
  return {part.offset, share_equal(l)};
}

Placed make_indexed(const std::vector<Placed>& parts) {
  auto* l = new Layout;
  l->form = Form::kIndexed;
  l->child = parts[0].layout;
  l->bytes = l->child->bytes * parts.size();
  l->runs = l->child->runs * parts.size();
  l->depth = deeper(l->child->depth);
  fill_table(
      *l, parts.size(), [&](std::size_t i) { return parts[i].offset - parts[0].offset; },
      [](std::size_t) { return std::size_t{0}; }, false);
  return {parts[0].offset, share_equal(l)};
}

Placed make_sequence(std::vector<Placed> parts) {
  std::erase_if(parts, [](const Placed& p) { return p.layout->form == Form::kEmpty; });
  if (parts.empty()) return make_empty();
  if (parts.size() == 1) return std::move(parts[0]);

  std::size_t runs = 0;
  bool same = true, only_runs = true;
  for (const Placed& p : parts) {
    runs += p.layout->runs;
    same = same && p.layout.get() == parts[0].layout.get();
    only_runs = only_runs && p.layout->form == Form::kRun;
  }
  if (only_runs || runs <= kFlattenRuns) {
    RunCollector collector;
    collector.reserve(runs);
    for (const Placed& p : parts) collector.add(p.offset, *p.layout);
    return collector.finish();
  }
  if (same) {
    const std::ptrdiff_t stride = parts[1].offset - parts[0].offset;
    bool even = true;
    for (std::size_t i = 1; i < parts.size() && even; ++i) even = parts[i].offset - parts[i - 1].offset == stride;
    return even ? make_strided(parts.size(), stride, std::move(parts[0])) : make_indexed(parts);
  }
  auto* l = new Layout;
  l->form = Form::kSequence;
  l->children.reserve(parts.size());
  std::vector<std::size_t> starts{0};
  starts.reserve(parts.size() + 1);
  for (Placed& p : parts) {
    l->depth = std::max(l->depth, deeper(p.layout->depth));
    l->runs += p.layout->runs;
    starts.push_back(starts.back() + p.layout->bytes);
    l->children.push_back(std::move(p.layout));
  }
  l->bytes = starts.back();
  fill_table(
      *l, parts.size(), [&](std::size_t i) { return parts[i].offset - parts[0].offset; },
      [&](std::size_t i) { return starts[i]; }, true);
  return {parts[0].offset, share_equal(l)};
}

void RunCollector::add(std::ptrdiff_t offset, const Layout& layout) {
  switch (layout.form) {
    case Form::kEmpty:
      return;
    case Form::kRun:
      return add(offset, layout.bytes);
    case Form::kStrided:
      for (std::size_t i = 0; i < layout.count; ++i)
        add(offset + static_cast<std::ptrdiff_t>(i) * layout.stride, *layout.child);
      return;
    case Form::kIndexed:
      for (std::size_t i = 0; i < layout.count; ++i) add(offset + layout.displacement(i), *layout.child);
      return;
    case Form::kBlocks:
      for (std::size_t i = 0; i < layout.count; ++i)
        add(offset + layout.displacement(i), layout.start(i + 1) - layout.start(i));
      return;
    case Form::kSequence:
      for (std::size_t i = 0; i < layout.count; ++i) add(offset + layout.displacement(i), *layout.children[i]);
      return;
  }
}

Placed RunCollector::finish() {
  if (runs_.empty()) return make_empty();
  const std::ptrdiff_t first = runs_[0].offset;
  const std::size_t n = runs_.size();
  if (n == 1) return make_run(first, runs_[0].bytes);
  const std::ptrdiff_t stride = runs_[1].offset - first;
  bool same = true, even = true;
  for (std::size_t i = 1; i < n && same; ++i) {
    same = runs_[i].bytes == runs_[0].bytes;
    even = even && runs_[i].offset - runs_[i - 1].offset == stride;
  }
  if (same && even) return make_strided(n, stride, make_run(first, runs_[0].bytes));
  auto* l = new Layout;
  l->runs = n;
  l->depth = 1;
  const auto displacement = [&](std::size_t i) { return runs_[i].offset - first; };
  if (same) {
    l->form = Form::kIndexed;
    l->child = make_run(0, runs_[0].bytes).layout;
    l->depth = 2;
    l->bytes = n * runs_[0].bytes;
    fill_table(
        *l, n, displacement, [](std::size_t) { return std::size_t{0}; }, false);
  } else {
    l->form = Form::kBlocks;
    std::vector<std::size_t> starts(n + 1);
    for (std::size_t i = 0; i < n; ++i) starts[i + 1] = starts[i] + runs_[i].bytes;
    l->bytes = starts[n];
    fill_table(
        *l, n, displacement, [&](std::size_t i) { return starts[i]; }, true);
  }
  return {first, share_equal(l)};
}

}  // namespace ashlar::datatype
