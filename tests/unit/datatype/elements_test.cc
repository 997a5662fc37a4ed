#include "framework/object/status_fields.h"

#include <gtest/gtest.h>

#include "framework/object/handle.h"
#include "tests/unit/datatype/type_map.h"

namespace ashlar {
namespace {

MPI_Count count(MPI_Count bytes, Datatype& type) {
  MPI_Status status;
  fill_status(&status, 0, 0, bytes);
  MPI_Count n;
  EXPECT_TRUE(datatype::get_count(&status, type, &n).ok());
  return n;
}
MPI_Count elements(MPI_Count bytes, Datatype& type) {
  MPI_Status status;
  fill_status(&status, 0, 0, bytes);
  MPI_Count n;
  EXPECT_TRUE(datatype::get_elements(&status, type, &n).ok());
  return n;
}

TEST(StatusFields, KeepWhatTheyAreGiven) {
  MPI_Status status;
  fill_status(&status, 3, 4, MPI_Count{1} << 40, true);
  EXPECT_EQ(status.MPI_SOURCE, 3);
  EXPECT_EQ(status.MPI_TAG, 4);
  EXPECT_EQ(bytes_of(status), MPI_Count{1} << 40);
  EXPECT_TRUE(cancelled_of(status));
  fill_empty_status(&status);
  EXPECT_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
  EXPECT_EQ(bytes_of(status), 0);
  EXPECT_FALSE(cancelled_of(status));
  fill_status(MPI_STATUS_IGNORE, 0, 0, 0);
}

// Example 3.12 of MPI-1.1: two floats in a contiguous(2, MPI_REAL) type, received three ways.
TEST(Elements, TheStandardsExample) {
  Datatype* pair = nullptr;
  ASSERT_TRUE(datatype::contiguous(2, datatype::predefined(MPI_REAL), &pair).ok());
  const auto keep = oracle::committed(pair);
  EXPECT_EQ(count(8, *pair), 1);
  EXPECT_EQ(elements(8, *pair), 2);
  EXPECT_EQ(count(12, *pair), MPI_UNDEFINED);
  EXPECT_EQ(elements(12, *pair), 3);
  EXPECT_EQ(elements(13, *pair), MPI_UNDEFINED);
}

TEST(Elements, EmptyDatatypes) {
  Datatype* none = nullptr;
  ASSERT_TRUE(datatype::contiguous(0, datatype::predefined(MPI_INT), &none).ok());
  const auto keep = oracle::committed(none);
  EXPECT_EQ(count(0, *none), 0);
  EXPECT_EQ(elements(0, *none), 0);
  EXPECT_EQ(count(4, *none), MPI_UNDEFINED);
}

TEST(Elements, APairIsTwo) {
  Datatype& type = datatype::predefined(MPI_DOUBLE_INT);
  EXPECT_EQ(elements(24, type), 4);
  EXPECT_EQ(elements(20, type), 3);
  EXPECT_EQ(elements(12 + 4, type), MPI_UNDEFINED);
  EXPECT_EQ(elements(4, datatype::predefined(MPI_2REAL)), 1);
}

// For every number of bytes: what the type map says.
TEST(Elements, RandomDatatypes) {
  std::mt19937_64 random(5);
  for (int n = 0; n < 200; ++n) {
    const oracle::Sample sample = oracle::random_sample(random, 3);
    const auto& list = sample.map.elements;
    if (list.empty() || list.size() > 200) continue;
    SCOPED_TRACE(sample.text);
    std::vector<MPI_Count> wanted(static_cast<std::size_t>(2 * sample.map.size()) + 1, MPI_UNDEFINED);
    MPI_Count bytes = 0;
    for (std::size_t i = 0; i <= 2 * list.size(); ++i) {
      wanted[static_cast<std::size_t>(bytes)] = static_cast<MPI_Count>(i);
      if (i < 2 * list.size()) bytes += list[i % list.size()].size;
    }
    for (std::size_t b = 0; b < wanted.size(); ++b) {
      ASSERT_EQ(elements(static_cast<MPI_Count>(b), *sample.type), wanted[b]) << b << " bytes";
      if (wanted[b] == MPI_UNDEFINED) continue;
      MPI_Status status{};
      ASSERT_TRUE(datatype::status_set_elements(&status, *sample.type, wanted[b]).ok());
      ASSERT_EQ(bytes_of(status), static_cast<MPI_Count>(b));
    }
  }
}

}  // namespace
}  // namespace ashlar
