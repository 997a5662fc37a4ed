#include "components/rma/am/runs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "components/rma/am/element.h"
#include "framework/datatype/api.h"
#include "framework/datatype/data_view.h"
#include "tests/unit/rma_am/window_world.h"

namespace ashlar::rma::am {
namespace {

using test::committed;
using test::vector_of;

/// Takes all of `place` in pieces of at most `most` bytes and `most_runs` runs, and compares what the runs have with
/// what packing has.
void compare(const Place& place, const Datatype& element, std::uint64_t most, std::size_t most_runs) {
  std::vector<std::byte> memory(20000);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 7 + i / 251);
  const DataView whole = place.in(memory.data());
  const auto bytes = static_cast<std::uint64_t>(whole.bytes());
  std::vector<std::byte> packed(bytes), found;
  ASSERT_EQ(datatype::pack(whole, 0, packed.data(), bytes), bytes);
  std::vector<Run> runs(most_runs);
  for (std::uint64_t first = 0; first < bytes;) {
    std::uint64_t length = 0;
    const std::size_t count = list_runs(place, element, first, most, runs, &length);
    ASSERT_GT(count, 0u);
    ASSERT_GT(length, 0u);
    ASSERT_LE(length, most);
    ASSERT_EQ(length % static_cast<std::uint64_t>(element.size()), 0u);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const DataView items{.data = memory.data() + runs[i].offset,
                           .count = static_cast<MPI_Count>(runs[i].bytes / static_cast<std::uint64_t>(element.size())),
                           .type = const_cast<Datatype*>(&element)};
      std::vector<std::byte> piece(runs[i].bytes);
      ASSERT_EQ(datatype::pack(items, 0, piece.data(), piece.size()), piece.size());
      found.insert(found.end(), piece.begin(), piece.end());
      sum += runs[i].bytes;
    }
    ASSERT_EQ(sum, length);
    first += length;
  }
  EXPECT_EQ(found, packed);
}

void compare_all(const Place& place, const Datatype& element) {
  for (const std::uint64_t most : {64u, 100u, 1000u, 8192u})
    for (const std::size_t runs : {1u, 2u, 3u, 32u}) compare(place, element, most, runs);
}

TEST(Runs, OfContiguousAndStridedData) {
  datatype::register_predefined();
  Datatype& doubles = datatype::predefined(MPI_DOUBLE);
  Datatype& bytes = datatype::predefined(MPI_BYTE);
  compare_all({.offset = 24, .count = 300, .type = &doubles}, doubles);
  compare_all({.offset = 24, .count = 300, .type = &doubles}, bytes);
  const auto strided = vector_of(5, 3, 7, doubles);
  compare_all({.offset = 8, .count = 9, .type = strided.get()}, doubles);
  compare_all({.offset = 8, .count = 9, .type = strided.get()}, bytes);
}

TEST(Runs, OfPairsWithGaps) {
  datatype::register_predefined();
  for (const MPI_Datatype constant : {MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT, MPI_2INT, MPI_FLOAT_INT}) {
    Datatype& pair = datatype::predefined(constant);
    compare_all({.offset = 32, .count = 100, .type = &pair}, pair);
    const auto strided = vector_of(4, 3, 5, pair);
    compare_all({.offset = 32, .count = 7, .type = strided.get()}, pair);
  }
}

// A list of runs must not take longer the more data follows it.
TEST(Runs, DoNotWalkAllOfALargeType) {
  datatype::register_predefined();
  Datatype& ints = datatype::predefined(MPI_INT);
  const MPI_Count at = 4;
  Datatype* made = nullptr;
  ASSERT_TRUE(datatype::create_hindexed_block(1, 1, IntArray(&at), ints, &made).ok());
  Datatype* resized = nullptr;
  ASSERT_TRUE(datatype::create_resized(*made, 0, 4, &resized).ok());
  release(made);
  const auto type = committed(resized);
  am::Run run;
  std::uint64_t bytes = 0;
  for (int i = 0; i < 100000; ++i) {
    const Place place{.offset = 0, .count = MPI_Count{1} << 40, .type = type.get()};
    ASSERT_EQ(list_runs(place, ints, std::uint64_t{4000} << 20, 4000, {&run, 1}, &bytes), 1u);
    ASSERT_EQ(bytes, 4000u);
    ASSERT_EQ(run.offset, (std::int64_t{4000} << 20) + 4);
  }
}

TEST(ElementNames, LeadToATypeOfTheSameValues) {
  datatype::register_predefined();
  const auto check = [](Datatype& type) {
    Datatype* found = nullptr;
    ASSERT_TRUE(find_element(name_of(type), &found).ok());
    EXPECT_EQ(found->size(), type.size());
    EXPECT_EQ(found->extent(), type.extent());
    EXPECT_EQ(found->basic(), type.basic());
    EXPECT_EQ(found->basic_class(), type.basic_class());
  };
  for (const BasicRow& row : basic_rows())
    if (row.size != 0) check(datatype::predefined(row.handle));
  Datatype* made = nullptr;
  ASSERT_TRUE(datatype::create_f90_real(10, 200, &made).ok());
  check(*made);
  ASSERT_TRUE(datatype::create_f90_integer(12, &made).ok());
  check(*made);
  ASSERT_TRUE(
      datatype::get_value_index(datatype::predefined(MPI_UINT64_T), datatype::predefined(MPI_UINT8_T), &made).ok());
  check(*made);
  Datatype* found = nullptr;
  ASSERT_TRUE(find_element(name_of(*made), &found).ok());
  EXPECT_EQ(found, made);
}

}  // namespace
}  // namespace ashlar::rma::am
