#include "components/coll/shm/segment/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/coll_shm/world.h"

namespace ashlar::coll::shm {
namespace {

struct Part {
  const std::byte* begin;
  std::uint64_t bytes;
};

template <class T>
Part part(const T& object) {
  return {reinterpret_cast<const std::byte*>(&object), sizeof object};
}

/// Every part that a rank may use, once.
std::vector<Part> parts_of(World& world, std::uint64_t buffer_bytes) {
  const SegmentLayout& layout = world.layout();
  std::vector<Part> parts{part(layout.header())};
  for (std::uint32_t r = 0; r < world.ranks(); ++r) parts.push_back(part(layout.rank(r)));
  for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
    parts.push_back(part(layout.arrived(slot)));
    parts.push_back(part(layout.result(slot)));
    for (std::uint32_t r = 0; r < world.ranks(); ++r) {
      parts.push_back(part(layout.contribution(slot, r)));
      parts.push_back(part(layout.record(slot, r)));
    }
  }
  for (std::uint64_t slot = 0; slot < kBufferSlots; ++slot) {
    parts.push_back({layout.result_buffer(slot), buffer_bytes});
    for (std::uint32_t r = 0; r < world.ranks(); ++r)
      parts.push_back({layout.contribution_buffer(slot, r), buffer_bytes});
  }
  return parts;
}

TEST(Layout, PartsAreApartAndInside) {
  for (const std::uint32_t ranks : {2u, 3u, 17u}) {
    constexpr std::uint64_t kBuffer = 4096 + kCacheLine;
    World world(ranks, true, kBuffer);
    std::vector<Part> parts = parts_of(world, kBuffer);
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
    EXPECT_EQ(parts.front().begin, world.memory());
    for (std::size_t i = 0; i + 1 < parts.size(); ++i)
      ASSERT_LE(parts[i].begin + parts[i].bytes, parts[i + 1].begin) << "part " << i << " of " << ranks << " ranks";
    EXPECT_EQ(parts.back().begin + parts.back().bytes, world.memory() + world.bytes());
  }
}

TEST(Layout, WhatOneRankWritesSharesNoLineWithAnother) {
  World world(3);
  const auto line_of = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) / kCacheLine; };
  const SegmentLayout& layout = world.layout();
  EXPECT_NE(line_of(&layout.rank(0)), line_of(&layout.rank(1)));
  EXPECT_NE(line_of(&layout.contribution(5, 0)), line_of(&layout.contribution(5, 1)));
  EXPECT_NE(line_of(&layout.record(kSlots - 1, 0)), line_of(&layout.record(0, 1)));
  EXPECT_NE(line_of(&layout.result(5)), line_of(&layout.arrived(5)));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(layout.contribution_buffer(0, 0)) % 4096, 0u);
}

TEST(Layout, NumbersOneRingApartUseOneSlot) {
  World world(2);
  const SegmentLayout& layout = world.layout();
  EXPECT_EQ(&layout.contribution(3, 1), &layout.contribution(3 + kSlots, 1));
  EXPECT_NE(&layout.contribution(3, 1), &layout.contribution(3 + kSlots - 1, 1));
  EXPECT_EQ(layout.contribution_buffer(3, 1), layout.contribution_buffer(3 + kBufferSlots, 1));
}

}  // namespace
}  // namespace ashlar::coll::shm
