#include "framework/io/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "framework/datatype/api.h"
#include "framework/datatype/datatype.h"
#include "framework/io/far.h"
#include "framework/io/plan.h"
#include "tests/unit/datatype/type_map.h"

namespace ashlar::io {
namespace {

constexpr std::uint64_t kBytes = 4096;

/// A view that ascends, its bytes in the file, and what is moved there.
struct Sample {
  Ref<Datatype> type;
  std::vector<std::int64_t> places;  // of each byte of the packed stream
  std::vector<std::byte> data;
};

bool make_sample(std::mt19937_64& random, Sample* out) {
  const oracle::Sample sample = oracle::random_sample(random, 3);
  if (sample.type->size() == 0 || datatype::ascent_of_tiles(*sample.type) != datatype::Ascent::kDisjoint) return false;
  out->type = Ref<Datatype>::share(*sample.type);
  for (const MPI_Count at : sample.map.bytes(40)) out->places.push_back(at);
  if (out->places.front() < 0) return false;
  out->data.resize(out->places.size());
  for (std::byte& byte : out->data) byte = static_cast<std::byte>(random());
  return true;
}

TEST(RowsTest, PutWhatTheViewHasInAWindow) {
  std::mt19937_64 random(20261123);
  int samples = 0;
  for (int round = 0; round < 200; ++round) {
    Sample sample;
    if (!make_sample(random, &sample)) continue;
    ++samples;
    const datatype::Tiles tiles(0, *sample.type);
    const std::uint64_t begin = random() % 300, end = begin + kBytes;
    const std::uint64_t first = tiles.below(static_cast<std::int64_t>(begin));
    const std::uint64_t last = std::min<std::uint64_t>(tiles.below(static_cast<std::int64_t>(end)), sample.data.size());
    if (first >= last) continue;
    std::vector<Row> rows;
    list_rows(tiles, first, last, begin, &rows);
    ASSERT_TRUE(good_rows(rows.data(), rows.size(), kBytes, last - first));
    EXPECT_FALSE(good_rows(rows.data(), rows.size(), kBytes, last - first + 1));
    std::vector<std::byte> window(kBytes), expected(kBytes), back(last - first);
    std::vector<Mask> mask(mask_bytes(kBytes) / sizeof(Mask)), marked(mask.size());
    put_rows(rows.data(), rows.size(), sample.data.data() + first, window.data(), mask.data());
    const std::uint64_t valid = random() % (kBytes + 1);
    std::uint64_t there = 0;
    for (std::uint64_t i = first; i < last; ++i) {
      const auto at = static_cast<std::uint64_t>(sample.places[i]) - begin;
      expected[at] = sample.data[i];
      marked[at / 64] |= Mask{1} << (at % 64);
      there += at < valid ? 1 : 0;
    }
    EXPECT_EQ(window, expected);
    EXPECT_EQ(mask, marked);
    EXPECT_EQ(get_rows(rows.data(), rows.size(), window.data(), valid, back.data()), there);
    EXPECT_EQ(std::memcmp(back.data(), sample.data.data() + first, there), 0);
  }
  EXPECT_GT(samples, 25);
}

TEST(RowsTest, APieceInEveryFewBytesIsOneRow) {
  Datatype* made = nullptr;
  ASSERT_TRUE(datatype::create_resized(datatype::predefined(MPI_DOUBLE), 0, 24, &made).ok());
  const Ref<Datatype> type = oracle::committed(made);
  std::vector<Row> rows;
  list_rows(datatype::Tiles(16, *type), 0, 8000, 0, &rows);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].first, 16u);
  EXPECT_EQ(rows[0].bytes, 8u);
  EXPECT_EQ(rows[0].stride, 24u);
  EXPECT_EQ(rows[0].count, 1000u);
}

TEST(RowsTest, OthersThanThoseOfAWindowAreNone) {
  const Row outside = {.first = 4000, .bytes = 8, .stride = 16, .count = 8};
  const Row over_itself = {.first = 0, .bytes = 8, .stride = 4, .count = 2};
  const Row empty = {.first = 0, .bytes = 0};
  const Row falling[] = {{.first = 100, .bytes = 8}, {.first = 50, .bytes = 8}};
  EXPECT_FALSE(good_rows(&outside, 1, kBytes, 64));
  EXPECT_FALSE(good_rows(&over_itself, 1, kBytes, 16));
  EXPECT_FALSE(good_rows(&empty, 1, kBytes, 0));
  EXPECT_FALSE(good_rows(falling, 2, kBytes, 16));
  EXPECT_TRUE(good_rows(falling, 1, kBytes, 8));
}

// What one process packs an aggregator puts in place, message by message, and answers.
TEST(RowsTest, ParcelsArriveWhole) {
  std::mt19937_64 random(7);
  int messages = 0;
  for (int round = 0; round < 200; ++round) {
    Sample sample;
    if (!make_sample(random, &sample)) continue;
    const datatype::Tiles tiles(0, *sample.type);
    Plan plan;
    plan.window = kBytes;
    plan.aggregators = 1;
    const std::uint64_t last = std::min<std::uint64_t>(tiles.below(kBytes), sample.data.size());
    Datatype& byte = datatype::predefined(MPI_BYTE);
    std::vector<std::byte> back(sample.data.size());
    const Stream out = {.tiles = &tiles,
                        .from = 0,
                        .to = sample.data.size(),
                        .buffer = DataView::of(sample.data.data(), static_cast<MPI_Count>(sample.data.size()), byte)};
    Far sender(1), writer(1), reader(1);
    ASSERT_TRUE(writer.make_room(plan, true, true) && reader.make_room(plan, true, false));
    const std::size_t most = 100 + random() % 600;
    Parcel parcel;
    ASSERT_TRUE(sender.pack(out, 0, 0, last, true, most, &parcel));
    for (std::size_t i = 0; i < parcel.messages.size(); ++i, ++messages) {
      const Parcel::Message& message = parcel.messages[i];
      ASSERT_LE(message.at + message.bytes, parcel.bytes.size());
      std::memcpy(writer.got.data(), parcel.bytes.data() + message.at, message.bytes);
      EXPECT_EQ(writer.rest_of_message(true), message.bytes - sizeof(Parcel::Head));
      EXPECT_EQ(writer.head().last, i + 1 == parcel.messages.size() ? 1u : 0u);
      EXPECT_TRUE(writer.put_message());
    }
    std::memcpy(reader.window.data, writer.window.data, kBytes);
    reader.valid = kBytes;
    ASSERT_TRUE(sender.pack(out, 0, 0, last, false, most, &parcel));
    for (const Parcel::Message& message : parcel.messages) {
      std::memcpy(reader.got.data(), parcel.bytes.data() + message.at, message.bytes);
      ASSERT_EQ(reader.answer_message(), MPI_SUCCESS);
      std::uint64_t there = 0;
      ASSERT_EQ(reader.answers.back().size(), sizeof there + message.packed);
      std::memcpy(&there, reader.answers.back().data(), sizeof there);
      ASSERT_EQ(there, message.packed);
      std::memcpy(back.data() + message.first, reader.answers.back().data() + sizeof there, there);
    }
    EXPECT_EQ(reader.answers.size(), parcel.messages.size());
    reader.drop_answers();
    EXPECT_EQ(std::memcmp(back.data(), sample.data.data(), last), 0);
  }
  EXPECT_GT(messages, 200);
}

}  // namespace
}  // namespace ashlar::io
