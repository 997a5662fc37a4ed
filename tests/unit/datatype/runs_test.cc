#include <gtest/gtest.h>

#include "tests/unit/datatype/type_map.h"

namespace ashlar {
namespace {

TEST(Runs, NeighboursAcrossItemsAreJoined) {
  // Blocks [0, 4) and [8, 16) of 16 bytes: the end of an item touches the start of the next.
  const int lengths[] = {1, 2}, at[] = {0, 2};
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::indexed(2, lengths, at, datatype::predefined(MPI_INT), &type).ok());
  const auto keep = oracle::committed(type);
  char memory[48];
  const DataView view = DataView::of(memory, 3, *type);
  iovec list[10];
  ASSERT_EQ(datatype::runs(view, 0, 10, list), 4u);
  EXPECT_EQ(list[0].iov_len, 4u);
  EXPECT_EQ(list[1].iov_base, memory + 8);
  EXPECT_EQ(list[1].iov_len, 12u);
  EXPECT_EQ(list[3].iov_len, 8u);
  // From the middle of a run.
  ASSERT_EQ(datatype::runs(view, 6, 10, list), 3u);
  EXPECT_EQ(list[0].iov_base, memory + 10);
  EXPECT_EQ(list[0].iov_len, 10u);
  EXPECT_EQ(datatype::runs(view, 36, 10, list), 0u);
}

TEST(Runs, DenseDataIsOne) {
  double memory[8];
  iovec list[2];
  const DataView view = DataView::of(memory, 8, datatype::predefined(MPI_DOUBLE));
  ASSERT_EQ(datatype::runs(view, 20, 2, list), 1u);
  EXPECT_EQ(list[0].iov_base, reinterpret_cast<char*>(memory) + 20);
  EXPECT_EQ(list[0].iov_len, 44u);
}

}  // namespace
}  // namespace ashlar
