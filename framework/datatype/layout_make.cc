#include "framework/datatype/layout_make.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace ashlar::datatype {
namespace {

// A sequence of few runs is flattened: one table is faster to walk than a tree.
constexpr std::size_t kFlattenRuns = 64;

using Form = Layout::Form;

std::uint16_t deeper(std::uint16_t depth) { return depth == 0xffff ? depth : static_cast<std::uint16_t>(depth + 1); }

// `count` numbers from `first` on, less `base`, as 32 bits each. False: one does not fit, and what was written is void.
bool narrowed(const std::int64_t* first, std::size_t count, std::int64_t base, std::int32_t* out) {
  constexpr std::uint64_t kMiddle = std::uint64_t{1} << 31;
  std::uint64_t high = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t number = first[i] - base;
    high |= static_cast<std::uint64_t>(number) + kMiddle;
    out[i] = static_cast<std::int32_t>(number);
  }
  return high >> 32 == 0;
}

// The table of `count` displacements, counted from the first, and, when given, of count + 1 starts.
void fill_table(Layout& l, std::size_t count, const std::int64_t* at, const std::int64_t* starts) {
  const std::size_t numbers = count + (starts != nullptr ? count + 1 : 0);
  l.count = count;
  l.table = std::make_unique_for_overwrite<std::byte[]>(numbers * sizeof(std::int32_t));
  auto* const small = reinterpret_cast<std::int32_t*>(l.table.get());
  // Starts rise: when the end fits, all do.
  const bool fits = starts == nullptr || starts[count] <= std::numeric_limits<std::int32_t>::max();
  if (fits && narrowed(at, count, at[0], small)) {
    if (starts != nullptr) narrowed(starts, count + 1, 0, small + count);
    return;
  }
  l.wide = true;
  l.table = std::make_unique_for_overwrite<std::byte[]>(numbers * sizeof(std::int64_t));
  auto* const large = reinterpret_cast<std::int64_t*>(l.table.get());
  for (std::size_t i = 0; i < count; ++i) large[i] = at[i] - at[0];
  if (starts != nullptr) std::memcpy(large + count, starts, (count + 1) * sizeof(std::int64_t));
}

std::vector<std::int64_t> offsets_of(const std::vector<Placed>& parts) {
  std::vector<std::int64_t> offsets(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) offsets[i] = parts[i].offset;
  return offsets;
}

// Whether numbers are evenly spaced.
bool evenly_spaced(const std::int64_t* numbers, std::size_t count) {
  const std::int64_t step = numbers[1] - numbers[0];
  for (std::size_t i = 2; i < count; ++i)
    if (numbers[i] - numbers[i - 1] != step) return false;
  return true;
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
  fill_table(*l, parts.size(), offsets_of(parts).data(), nullptr);
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
  std::vector<std::int64_t> starts{0};
  starts.reserve(parts.size() + 1);
  for (Placed& p : parts) {
    l->depth = std::max(l->depth, deeper(p.layout->depth));
    l->runs += p.layout->runs;
    starts.push_back(starts.back() + static_cast<std::int64_t>(p.layout->bytes));
    l->children.push_back(std::move(p.layout));
  }
  l->bytes = static_cast<std::size_t>(starts.back());
  fill_table(*l, parts.size(), offsets_of(parts).data(), starts.data());
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

void RunCollector::grow(std::size_t room) {
  auto at = std::make_unique_for_overwrite<std::int64_t[]>(room + 1);
  auto starts = std::make_unique_for_overwrite<std::int64_t[]>(room + 1);
  if (count_ > 0) {
    std::memcpy(at.get(), at_.get(), count_ * sizeof(std::int64_t));
    std::memcpy(starts.get(), starts_.get(), count_ * sizeof(std::int64_t));
  }
  at_ = std::move(at);
  starts_ = std::move(starts);
  room_ = room;
}

Placed RunCollector::finish() {
  if (count_ == 0) return make_empty();
  const std::ptrdiff_t first = at_[0];
  if (count_ == 1) return make_run(first, bytes_);
  starts_[count_] = static_cast<std::int64_t>(bytes_);
  const bool same = evenly_spaced(starts_.get(), count_ + 1);
  const Placed run = same ? make_run(first, bytes_ / count_) : Placed{};
  if (same && evenly_spaced(at_.get(), count_)) return make_strided(count_, at_[1] - first, run);
  auto* l = new Layout;
  l->form = same ? Form::kIndexed : Form::kBlocks;
  l->depth = same ? 2 : 1;
  l->runs = count_;
  l->bytes = bytes_;
  l->child = run.layout;
  fill_table(*l, count_, at_.get(), same ? nullptr : starts_.get());
  return {first, share_equal(l)};
}

}  // namespace ashlar::datatype
