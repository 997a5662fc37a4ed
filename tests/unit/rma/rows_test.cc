// Layouts as rows, against the type map.
#include "framework/rma/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/datatype/type_map.h"

namespace ashlar::rma {
namespace {

class RowsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { datatype::register_predefined(); }
};

// Takes the place apart in pieces of at most `most` bytes and `rows` rows. `places`: of its packed bytes, in memory
// that begins `origin` bytes before the window's address 0.
void expect_rows(const Place& place, const std::vector<MPI_Count>& places, std::size_t origin, std::size_t memory_bytes,
                 std::size_t most, std::size_t rows) {
  std::vector<std::byte> memory(memory_bytes), other(memory_bytes);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 7 + i / 251);
  std::vector<Row> list(rows);
  for (std::size_t first = 0; first < places.size();) {
    std::size_t bytes = 0;
    const std::size_t n = list_rows(place, first, most, list, &bytes);
    ASSERT_GT(n, 0u);
    ASSERT_GT(bytes, 0u);
    ASSERT_LE(bytes, std::min(most, places.size() - first));
    std::vector<std::byte> packed(bytes);
    RowCursor from({list.data(), n}, memory.data() + origin), to({list.data(), n}, other.data() + origin);
    for (std::size_t done = 0, step = 1; done < bytes; done += step, step = step * 3 + 1) {
      step = std::min(step, bytes - done);
      from.gather(packed.data() + done, step);
      to.scatter(packed.data() + done, step);
    }
    for (std::size_t i = 0; i < bytes; ++i)
      ASSERT_EQ(packed[i], memory[static_cast<std::size_t>(static_cast<MPI_Count>(origin) + places[first + i])])
          << "packed byte " << first + i;
    first += bytes;
  }
  std::vector<std::byte> wanted(memory_bytes);
  for (const MPI_Count at : places) {
    const auto i = static_cast<std::size_t>(static_cast<MPI_Count>(origin) + at);
    wanted[i] = memory[i];
  }
  ASSERT_EQ(other, wanted);
}

TEST_F(RowsTest, OfAnyLayout) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const oracle::Sample sample = oracle::random_sample(random, 3);
    if (sample.type->size() == 0) continue;
    SCOPED_TRACE(std::to_string(seed) + " " + sample.text);
    const MPI_Count count = 1 + static_cast<MPI_Count>(random() % 3);
    const std::vector<MPI_Count> places = sample.map.bytes(count);
    const MPI_Count low = std::min<MPI_Count>(0, *std::ranges::min_element(places));
    const MPI_Count high = *std::ranges::max_element(places) + 1;
    const Place place{.offset = 0, .count = count, .type = sample.type.get()};
    const auto origin = static_cast<std::size_t>(-low);
    for (const std::size_t most : {std::size_t{100}, std::size_t{1} << 20})
      for (const std::size_t rows : {1u, 3u, 256u})
        expect_rows(place, places, origin, static_cast<std::size_t>(std::max<MPI_Count>(high, 0) - low), most, rows);
  }
}

// Items without gaps are one block, and are copied as one.
TEST_F(RowsTest, OfItemsWithoutGapsAreOneBlock) {
  const Place place{.offset = 8, .count = 1000, .type = &datatype::predefined(MPI_BYTE)};
  Row rows[4];
  std::size_t bytes = 0;
  ASSERT_EQ(list_rows(place, 0, 4096, rows, &bytes), 1u);
  EXPECT_EQ(bytes, 1000u);
  EXPECT_EQ(rows[0].block, 1000u);
  EXPECT_EQ(rows[0].count, 1u);
  ASSERT_EQ(list_rows(place, 300, 600, rows, &bytes), 1u);
  EXPECT_EQ(bytes, 600u);
  EXPECT_EQ(rows[0].offset, 308);
  EXPECT_EQ(rows[0].block, 600u);
}

// What a row is there for: a regular layout is one, however long.
TEST_F(RowsTest, OfVectorsAreFew) {
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::vector(5000, 1, 2, datatype::predefined(MPI_DOUBLE), &type).ok());
  const Ref<Datatype> vector = oracle::committed(type);
  const Place place{.offset = 24, .count = 1, .type = vector.get()};
  Row rows[4];
  std::size_t bytes = 0;
  ASSERT_EQ(list_rows(place, 0, 40000, rows, &bytes), 1u);
  EXPECT_EQ(bytes, 40000u);
  EXPECT_EQ(rows[0].offset, 24);
  EXPECT_EQ(rows[0].stride, 16);
  EXPECT_EQ(rows[0].block, 8u);
  EXPECT_EQ(rows[0].count, 5000u);
  // From within an element on: the rest of it, whole ones, and a part of the last.
  ASSERT_EQ(list_rows(place, 12, 100, rows, &bytes), 2u);
  EXPECT_EQ(bytes, 100u);
  EXPECT_EQ(rows[0].offset, 24 + 16 + 4);
  EXPECT_EQ(rows[0].block, 4u);
  EXPECT_EQ(rows[1].count, 12u);
}

// Equal distances are found where the datatype does not name them.
TEST_F(RowsTest, OfBlocksAtEqualDistancesAreOne) {
  std::vector<MPI_Count> at;
  for (MPI_Count i = 0; i < 100; ++i) at.push_back(i * 5 + (i >= 50 ? 1 : 0));
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::create_indexed_block(static_cast<MPI_Count>(at.size()), 1, at.data(),
                                             datatype::predefined(MPI_INT), &type)
                  .ok());
  const Ref<Datatype> blocks = oracle::committed(type);
  const Place place{.offset = 0, .count = 1, .type = blocks.get()};
  Row rows[8];
  std::size_t bytes = 0;
  EXPECT_EQ(list_rows(place, 0, 1000, rows, &bytes), 2u);
  EXPECT_EQ(bytes, 400u);
}

}  // namespace
}  // namespace ashlar::rma
