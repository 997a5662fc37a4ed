#include "framework/memory/blocks.h"

#include <iterator>
#include <utility>

namespace ashlar::memory {

void Blocks::detach(Map::iterator at) {
  Block& block = at->second;
  free_bytes_[index(block.pages)] -= block.bytes;
  block.parked = free_set(block).extract(range_of(at));
  block.free = false;
}

bool Blocks::joins(Map::iterator left, Map::iterator right) const {
  return left->second.free && right->second.free && left->second.pages == right->second.pages &&
         left->first + left->second.bytes == right->first;
}

/// `at` becomes free and joins its free neighbours; the block that they make together.
Blocks::Map::iterator Blocks::attach(Map::iterator at) {
  at->second.free = true;
  free_bytes_[index(at->second.pages)] += at->second.bytes;
  if (at != by_address_.begin()) {
    if (const auto left = std::prev(at); joins(left, at)) {
      free_set(left->second).erase(range_of(left));
      left->second.bytes += at->second.bytes;
      left->second.parked = std::move(at->second.parked);
      by_address_.erase(at);
      at = left;
    }
  }
  if (const auto right = std::next(at); right != by_address_.end() && joins(at, right)) {
    free_set(right->second).erase(range_of(right));
    at->second.bytes += right->second.bytes;
    by_address_.erase(right);
  }
  at->second.parked.value() = range_of(at);
  free_set(at->second).insert(std::move(at->second.parked));
  return at;
}

void Blocks::add(Range range, Pages pages) {
  FreeSet fresh;
  fresh.insert(range);
  const auto at = by_address_.emplace(range.begin, Block{.bytes = range.bytes, .pages = pages}).first;
  at->second.parked = fresh.extract(fresh.begin());
  attach(at);
}

bool Blocks::take(std::uint64_t bytes, std::uint64_t alignment, Pages pages, Range* out) {
  const std::uint64_t wanted = round_up(bytes);
  if (wanted < bytes) return false;
  if (alignment < unit_) alignment = unit_;
  FreeSet& candidates = free_[index(pages)];
  const auto place_in = [alignment](const Range& block) { return (block.begin + alignment - 1) & ~(alignment - 1); };
  auto best = candidates.lower_bound({.begin = 0, .bytes = wanted});
  if (best == candidates.end()) return false;
  if (place_in(*best) + wanted > best->end()) {
    // In one that is larger by this much it fits wherever that begins.
    best = candidates.lower_bound({.begin = 0, .bytes = wanted + (alignment - unit_)});
    if (best == candidates.end()) return false;
  }
  const Range whole = *best;
  const std::uint64_t begin = place_in(whole);
  const std::uint64_t before = begin - whole.begin;
  const std::uint64_t after = whole.end() - (begin + wanted);
  // What may throw comes first: the nodes of the parts that are left.
  FreeSet nodes;
  Map parts;
  if (before > 0) {
    nodes.insert({.begin = begin, .bytes = wanted});
    parts.emplace(begin, Block{.bytes = wanted, .pages = pages});
  }
  if (after > 0) {
    nodes.insert({.begin = begin + wanted, .bytes = after});
    parts.emplace(begin + wanted, Block{.bytes = after, .pages = pages});
  }
  const auto at = by_address_.find(whole.begin);
  detach(at);
  at->second.bytes = before > 0 ? before : wanted;
  while (!parts.empty()) {
    auto part = parts.extract(parts.begin());
    part.mapped().parked = nodes.extract({.begin = part.key(), .bytes = part.mapped().bytes});
    by_address_.insert(std::move(part));
  }
  if (before > 0) attach(at);
  if (after > 0) attach(by_address_.find(begin + wanted));
  by_address_.find(begin)->second.serial = ++last_serial_;
  *out = {.begin = begin, .bytes = wanted};
  return true;
}

Range Blocks::taken(std::uint64_t begin) const {
  const auto at = by_address_.find(begin);
  return at == by_address_.end() || at->second.free ? Range{} : range_of(at);
}

Range Blocks::around(std::uint64_t address, std::uint64_t* serial) const {
  auto at = by_address_.upper_bound(address);
  if (at == by_address_.begin()) return {};
  --at;
  if (at->second.free || address - at->first >= at->second.bytes) return {};
  *serial = at->second.serial;
  return range_of(at);
}

Range Blocks::give(std::uint64_t begin) {
  const auto at = by_address_.find(begin);
  if (at == by_address_.end() || at->second.free) return {};
  return range_of(attach(at));
}

void Blocks::change_taken(std::uint64_t begin, Pages pages) { by_address_.at(begin).pages = pages; }

void Blocks::change_free(std::uint64_t begin, Pages pages) {
  const auto at = by_address_.find(begin);
  detach(at);
  at->second.pages = pages;
  attach(at);
}

void Blocks::cut_free(std::uint64_t begin, std::uint64_t at) {
  const auto first = by_address_.find(begin);
  const Range second{.begin = at, .bytes = begin + first->second.bytes - at};
  FreeSet node;
  node.insert(second);
  by_address_.emplace(at, Block{.bytes = second.bytes, .pages = first->second.pages, .free = true});
  FreeSet& set = free_set(first->second);
  auto shortened = set.extract(range_of(first));
  first->second.bytes = at - begin;
  shortened.value() = range_of(first);
  set.insert(std::move(shortened));
  set.insert(node.extract(node.begin()));
}

Range Blocks::largest(Pages pages) const {
  const FreeSet& set = free_[index(pages)];
  return set.empty() ? Range{} : *set.rbegin();
}

}  // namespace ashlar::memory
