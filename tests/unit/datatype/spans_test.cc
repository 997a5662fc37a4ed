#include "framework/datatype/spans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/datatype/type_map.h"

namespace ashlar::datatype {
namespace {

/// Offset of every byte of the first `items` items, in packed order.
std::vector<std::int64_t> offsets_of(const oracle::Sample& sample, std::int64_t begin, MPI_Count items) {
  std::vector<std::int64_t> offsets;
  for (const MPI_Count at : sample.map.bytes(items)) offsets.push_back(begin + at);
  return offsets;
}

std::vector<std::int64_t> listed(const Tiles& tiles, std::uint64_t from, std::uint64_t bytes, std::size_t room) {
  std::vector<std::int64_t> offsets;
  std::vector<Span> spans(room);
  while (bytes > 0) {
    const std::size_t used = tiles.spans(from, bytes, room, spans.data());
    if (used == 0) {
      ADD_FAILURE() << "nothing listed of " << bytes << " bytes from " << from;
      break;
    }
    for (std::size_t i = 0; i < used; ++i) {
      for (std::uint64_t k = 0; k < spans[i].bytes; ++k)
        offsets.push_back(spans[i].offset + static_cast<std::int64_t>(k));
      from += spans[i].bytes;
      bytes -= spans[i].bytes;
    }
  }
  return offsets;
}

/// The row from byte `from` on, as far as it reaches within `expected`. Returns its runs there.
std::uint64_t expect_row(const Tiles& tiles, std::uint64_t from, const std::vector<std::int64_t>& expected) {
  const Row row = tiles.row(from);
  if (row.bytes == 0) return 0;
  const std::uint64_t runs = std::min<std::uint64_t>(row.count, (expected.size() - from) / row.bytes);
  for (std::uint64_t i = 0; i < runs * row.bytes; ++i) {
    const std::int64_t at = row.offset + static_cast<std::int64_t>(i / row.bytes) * row.stride;
    EXPECT_EQ(at + static_cast<std::int64_t>(i % row.bytes), expected[from + i]) << "byte " << from + i;
  }
  return runs;
}

bool rises(const std::vector<std::int64_t>& offsets) {
  return std::ranges::adjacent_find(offsets, std::greater_equal()) == offsets.end();
}

TEST(Spans, RandomTypesAgreeWithTheTypeMap) {
  std::mt19937_64 random(20261122);
  int disjoint = 0;
  for (int round = 0; round < 400; ++round) {
    const oracle::Sample sample = oracle::random_sample(random, 3);
    if (sample.type->size() == 0) continue;
    SCOPED_TRACE(sample.text);
    const std::int64_t begin = static_cast<std::int64_t>(random() % 1000);
    const std::vector<std::int64_t> expected = offsets_of(sample, begin, 3);
    const Tiles tiles(begin, *sample.type);
    const std::uint64_t from = random() % expected.size();
    expect_row(tiles, from, expected);
    const std::uint64_t bytes = 1 + random() % (expected.size() - from);
    const auto first = expected.begin() + static_cast<std::ptrdiff_t>(from);
    EXPECT_EQ(listed(tiles, from, bytes, 1 + random() % 7),
              std::vector<std::int64_t>(first, first + static_cast<std::ptrdiff_t>(bytes)));
    EXPECT_EQ(ascent_of(*sample.type) == Ascent::kDisjoint, rises(offsets_of(sample, 0, 1)));
    EXPECT_EQ(ascent_of_tiles(*sample.type) == Ascent::kDisjoint, rises(offsets_of(sample, 0, 2)));
    if (ascent_of_tiles(*sample.type) != Ascent::kDisjoint) continue;
    EXPECT_GT(tiles.ascending(), std::uint64_t{1} << 62);
    ++disjoint;
    for (int probe = 0; probe < 20; ++probe) {
      const std::int64_t offset =
          probe == 0 ? expected.back()
                     : expected[random() % expected.size()] + static_cast<std::int64_t>(random() % 5) - 2;
      if (offset > expected.back()) continue;  // the fourth item may begin below it
      EXPECT_EQ(tiles.below(offset),
                static_cast<std::uint64_t>(std::ranges::lower_bound(expected, offset) - expected.begin()))
          << "below " << offset;
    }
  }
  EXPECT_GT(disjoint, 50);
}

TEST(Spans, ItemsMayBeginAmongThePiecesOfTheOneBefore) {
  std::mt19937_64 random(20261123);
  int interleaved = 0;
  for (int round = 0; round < 600; ++round) {
    const oracle::Sample sample = oracle::random_sample(random, 3);
    if (sample.type->size() == 0 || ascent_of(*sample.type) != Ascent::kDisjoint) continue;
    const MPI_Count extent = 1 + static_cast<MPI_Count>(random() % 40);
    Datatype* resized = nullptr;
    ASSERT_TRUE(create_resized(*sample.type, 0, extent, &resized).ok());
    const Ref<Datatype> type = oracle::committed(resized);
    SCOPED_TRACE(sample.text + ", extent " + std::to_string(extent));
    const std::int64_t begin = static_cast<std::int64_t>(random() % 1000);
    const Tiles tiles(begin, *type);
    const std::vector<std::int64_t> one = offsets_of(sample, begin, 1);
    const std::int64_t offset = one[random() % one.size()] + static_cast<std::int64_t>(random() % 5) - 2;
    std::uint64_t end = 0;
    for (std::int64_t item = 0; one[0] + item * extent < offset; ++item)
      for (std::size_t i = 0; i < one.size(); ++i)
        if (one[i] + item * extent < offset) end = static_cast<std::uint64_t>(item) * one.size() + i + 1;
    EXPECT_EQ(tiles.end_below(offset), end) << "below " << offset;
    if (ascent_of_tiles(*type) == Ascent::kDisjoint) continue;
    ++interleaved;
    EXPECT_EQ(tiles.ascending(), one.size());
    EXPECT_EQ(tiles.below(offset), static_cast<std::uint64_t>(std::ranges::lower_bound(one, offset) - one.begin()))
        << "of the first item, below " << offset;
  }
  EXPECT_GT(interleaved, 50);
}

TEST(Spans, RowsAreRunsAtOneStride) {
  oracle::Sample block;
  Datatype* made = nullptr;
  const int whole[] = {3, 12, 8}, part[] = {2, 10, 4}, start[] = {1, 1, 2};
  ASSERT_TRUE(create_subarray(3, whole, part, start, MPI_ORDER_C, predefined(MPI_INT), &made).ok());
  block.type = oracle::committed(made);
  block.map = oracle::subarray({3, 12, 8}, {2, 10, 4}, {1, 1, 2}, false, oracle::TypeMap::basic(MPI_INT));
  const Tiles tiles(40, *block.type);
  const std::vector<std::int64_t> expected = offsets_of(block, 40, 2);
  EXPECT_EQ(expect_row(tiles, 0, expected), 10u);
  EXPECT_EQ(expect_row(tiles, 3 * 16, expected), 7u);
  EXPECT_EQ(expect_row(tiles, 10 * 16, expected), 10u);
  EXPECT_EQ(expect_row(tiles, 20 * 16, expected), 10u) << "of the second item";
  EXPECT_EQ(expect_row(tiles, 3 * 16 + 5, expected), 0u) << "within a run";
  EXPECT_EQ(tiles.row(3 * 16 + 5).bytes, 16u);
  ASSERT_TRUE(create_resized(predefined(MPI_INT), 0, 12, &made).ok());
  const Ref<Datatype> sparse = oracle::committed(made);
  EXPECT_GT(Tiles(0, *sparse).row(400).count, std::uint64_t{1} << 62);
  EXPECT_EQ(Tiles(0, *sparse).row(400).offset, 1200);
}

TEST(Spans, ManyItemsAreOnePieceWhereTheyTouch) {
  Datatype* ints = nullptr;
  ASSERT_TRUE(contiguous(5, predefined(MPI_INT), &ints).ok());
  const Ref<Datatype> type = oracle::committed(ints);
  const Tiles tiles(100, *type);
  EXPECT_TRUE(tiles.contiguous());
  Span span;
  ASSERT_EQ(tiles.spans(7, std::uint64_t{1} << 40, 1, &span), 1u);
  EXPECT_EQ(span.offset, 107);
  EXPECT_EQ(span.bytes, std::uint64_t{1} << 40);
  EXPECT_EQ(tiles.below(99), 0u);
  EXPECT_EQ(tiles.below(1000), 900u);
}

TEST(Spans, PlacesFarAwayAreFoundAtOnce) {
  Datatype* sparse = nullptr;
  ASSERT_TRUE(vector(1'000'000, 1, 1'000'000, predefined(MPI_BYTE), &sparse).ok());
  const Ref<Datatype> type = oracle::committed(sparse);
  const Tiles tiles(0, *type);
  Span span;
  ASSERT_EQ(tiles.spans(999'999, 1, 1, &span), 1u);
  EXPECT_EQ(span.offset, 999'999'000'000);
  EXPECT_EQ(tiles.below(500'000'000'001), 500'001u);
  EXPECT_EQ(tiles.below(500'000'000'000), 500'000u);
}

TEST(Spans, OverlapIsToldFromDisorder) {
  Datatype* made = nullptr;
  ASSERT_TRUE(create_hvector(4, 1, 2, predefined(MPI_INT), &made).ok());
  const Ref<Datatype> overlapping = oracle::committed(made);
  EXPECT_EQ(ascent_of(*overlapping), Ascent::kOverlapping);
  ASSERT_TRUE(create_hvector(4, 1, -8, predefined(MPI_INT), &made).ok());
  const Ref<Datatype> falling = oracle::committed(made);
  EXPECT_EQ(ascent_of(*falling), Ascent::kNone);
  ASSERT_TRUE(create_resized(predefined(MPI_INT), 0, 2, &made).ok());
  const Ref<Datatype> shrunken = oracle::committed(made);
  EXPECT_EQ(ascent_of(*shrunken), Ascent::kDisjoint);
  EXPECT_EQ(ascent_of_tiles(*shrunken), Ascent::kOverlapping);
}

// Types of one compiled form differ in their extent: what is known of the form is no answer for the items of both.
TEST(Spans, OfATableEachExtentHasItsAnswer) {
  const int places[] = {0, 3, 7};
  Datatype* made = nullptr;
  ASSERT_TRUE(create_indexed_block(3, 1, IntArray(places), predefined(MPI_INT), &made).ok());
  const Ref<Datatype> table = oracle::committed(made);
  ASSERT_TRUE(create_resized(*table, 0, 28, &made).ok());
  const Ref<Datatype> overlapping = oracle::committed(made);
  ASSERT_TRUE(create_resized(*table, 0, 20, &made).ok());
  const Ref<Datatype> falling = oracle::committed(made);
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(ascent_of_tiles(*table), Ascent::kDisjoint);
    EXPECT_EQ(ascent_of_tiles(*overlapping), Ascent::kOverlapping);
    EXPECT_EQ(ascent_of_tiles(*falling), Ascent::kNone);
  }
}

}  // namespace
}  // namespace ashlar::datatype
