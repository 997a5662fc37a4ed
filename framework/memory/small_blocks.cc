#include "framework/memory/small_blocks.h"

#include <algorithm>
#include <bit>

namespace ashlar::memory {

void SmallBlocks::Bits::assign(std::uint32_t begin, std::uint32_t end, bool value) {
  while (begin < end) {
    const std::uint32_t first = begin % 64, count = std::min(64 - first, end - begin);
    const std::uint64_t mask = (~std::uint64_t{0} >> (64 - count)) << first;
    std::uint64_t& word = words_[begin / 64];
    word = value ? word | mask : word & ~mask;
    begin += count;
  }
}

std::uint32_t SmallBlocks::Bits::find(std::uint32_t from, bool value) const {
  while (from < kUnits) {
    const std::uint64_t word = value ? words_[from / 64] : ~words_[from / 64];
    if (const std::uint64_t rest = word >> (from % 64); rest != 0)
      return from + static_cast<std::uint32_t>(std::countr_zero(rest));
    from = (from / 64 + 1) * 64;
  }
  return kUnits;
}

std::uint32_t SmallBlocks::Bits::behind_last(std::uint32_t from, bool value) const {
  while (from > 0) {
    const std::uint32_t at = from - 1;
    const std::uint64_t word = value ? words_[at / 64] : ~words_[at / 64];
    if (const std::uint64_t rest = word << (63 - at % 64); rest != 0)
      return from - static_cast<std::uint32_t>(std::countl_zero(rest));
    from = at / 64 * 64;
  }
  return 0;
}

void SmallBlocks::add(std::uint64_t begin) {
  const auto at = by_longest_.emplace(kUnits, begin).first;
  try {
    chunks_.emplace(begin, Chunk{});
  } catch (...) {
    by_longest_.erase(at);
    throw;
  }
  free_bytes_ += kChunk;
}

void SmallBlocks::remove(std::uint64_t begin) {
  by_longest_.erase({kUnits, begin});
  chunks_.erase(begin);
  free_bytes_ -= kChunk;
}

std::uint32_t SmallBlocks::place_in(const Chunk& chunk, std::uint32_t units, std::uint32_t alignment) {
  std::uint32_t begin = chunk.used.find(0, false);
  while (begin < kUnits) {
    const std::uint32_t end = chunk.used.find(begin, true), at = (begin + alignment - 1) / alignment * alignment;
    if (at + units <= end) return at;
    begin = chunk.used.find(end, false);
  }
  return kUnits;
}

void SmallBlocks::sort_in(std::uint64_t begin, Chunk& chunk) {
  std::uint32_t longest = 0;
  for (std::uint32_t at = chunk.used.find(0, false); at < kUnits;) {
    const std::uint32_t end = chunk.used.find(at, true);
    longest = std::max(longest, end - at);
    at = chunk.used.find(end, false);
  }
  if (longest == chunk.longest) return;
  auto entry = by_longest_.extract({chunk.longest, begin});
  entry.value().first = chunk.longest = longest;
  by_longest_.insert(std::move(entry));
}

bool SmallBlocks::take(std::uint64_t bytes, std::uint64_t alignment, Range* out) {
  if (bytes > kChunk) return false;
  const auto units = static_cast<std::uint32_t>((bytes + kUnit - 1) / kUnit);
  const auto aligned = static_cast<std::uint32_t>(std::max(alignment, kUnit) / kUnit);
  // The second chunk has a free part in which the block fits wherever that part begins.
  for (const std::uint32_t longest : {units, units + aligned - 1}) {
    const auto candidate = by_longest_.lower_bound({longest, 0});
    if (candidate == by_longest_.end()) return false;
    const std::uint64_t begin = candidate->second;
    Chunk& chunk = chunks_.find(begin)->second;
    const std::uint32_t at = place_in(chunk, units, aligned);
    if (at == kUnits) continue;
    chunk.used.assign(at, at + units, true);
    chunk.last.assign(at + units - 1, at + units, true);
    sort_in(begin, chunk);
    free_bytes_ -= units * kUnit;
    *out = {.begin = begin + at * kUnit, .bytes = units * kUnit};
    return true;
  }
  return false;
}

SmallBlocks::Chunks::const_iterator SmallBlocks::chunk_of(std::uint64_t begin) const {
  auto at = chunks_.upper_bound(begin);
  if (at == chunks_.begin() || begin % kUnit != 0) return chunks_.end();
  --at;
  if (begin - at->first >= kChunk) return chunks_.end();
  // Where a block begins, the unit before it is free or the last of another one.
  const std::uint32_t unit = unit_of(begin, at->first);
  const Chunk& chunk = at->second;
  const bool begins = chunk.used.test(unit) && (unit == 0 || !chunk.used.test(unit - 1) || chunk.last.test(unit - 1));
  return begins ? at : chunks_.end();
}

Range SmallBlocks::taken(std::uint64_t begin) const {
  const auto at = chunk_of(begin);
  if (at == chunks_.end()) return {};
  const std::uint32_t unit = unit_of(begin, at->first);
  return {.begin = begin, .bytes = (end_of_block(at->second, unit) - unit) * kUnit};
}

Range SmallBlocks::give(std::uint64_t begin) {
  const auto found = chunk_of(begin);
  if (found == chunks_.end()) return {};
  const auto at = chunks_.erase(found, found);  // the same, to be changed
  Chunk& chunk = at->second;
  const std::uint32_t first = unit_of(begin, at->first), end = end_of_block(chunk, first);
  chunk.used.assign(first, end, false);
  chunk.last.assign(end - 1, end, false);
  sort_in(at->first, chunk);
  free_bytes_ += (end - first) * kUnit;
  const std::uint32_t left = chunk.used.behind_last(first, true), right = chunk.used.find(end, true);
  return {.begin = at->first + left * kUnit, .bytes = (right - left) * kUnit};
}

}  // namespace ashlar::memory
