// The rules of MPI-5.0, 5.1, constructor by constructor, with figures worked out by hand.
#include <gtest/gtest.h>

#include <climits>
#include <cstring>

#include "framework/datatype/layout.h"
#include "framework/datatype/layout_make.h"
#include "framework/object/handle.h"
#include "tests/unit/datatype/type_map.h"

namespace ashlar {
namespace {

using oracle::committed;

Datatype& kDouble() { return datatype::predefined(MPI_DOUBLE); }
Datatype& kInt() { return datatype::predefined(MPI_INT); }
Datatype& kChar() { return datatype::predefined(MPI_CHAR); }

void expect_bounds(const Datatype& type, MPI_Count size, MPI_Count lb, MPI_Count extent, MPI_Count true_lb,
                   MPI_Count true_extent) {
  EXPECT_EQ(type.size(), size);
  EXPECT_EQ(type.lb(), lb);
  EXPECT_EQ(type.extent(), extent);
  EXPECT_EQ(type.true_lb(), true_lb);
  EXPECT_EQ(type.true_extent(), true_extent);
}

// The standard's running example: {(double, 0), (char, 8)}, extent 16.
Ref<Datatype> double_char() {
  const int lengths[] = {1, 1};
  const MPI_Aint at[] = {0, 8};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR};
  Datatype* type = nullptr;
  EXPECT_TRUE(datatype::create_struct(2, lengths, at, types, &type).ok());
  return Ref<Datatype>::adopt(type);
}

TEST(Construct, StructIsRoundedUpToItsAlignment) { expect_bounds(*double_char(), 9, 0, 16, 0, 9); }

TEST(Construct, ContiguousSpacesByExtent) {
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::contiguous(3, *double_char(), &type).ok());
  const auto keep = committed(type);
  expect_bounds(*type, 27, 0, 48, 0, 41);
  EXPECT_FALSE(type->dense());
}

TEST(Construct, ContiguousOfDenseIsDense) {
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::contiguous(5, kDouble(), &type).ok());
  const auto keep = committed(type);
  EXPECT_TRUE(type->dense());
  EXPECT_EQ(type->layout().form, datatype::Layout::Form::kRun);
}

TEST(Construct, VectorAndItsNegativeStride) {
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::vector(2, 3, 4, *double_char(), &type).ok());
  expect_bounds(*Ref<Datatype>::adopt(type), 54, 0, 112, 0, 64 + 41);
  // vector(3, 1, -2, oldtype) of the standard: lb is negative.
  ASSERT_TRUE(datatype::vector(3, 1, -2, *double_char(), &type).ok());
  expect_bounds(*Ref<Datatype>::adopt(type), 27, -64, 80, -64, 73);
}

TEST(Construct, EmptyTypesHaveNoExtent) {
  const int none[] = {0};
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::contiguous(0, kInt(), &type).ok());
  expect_bounds(*committed(type), 0, 0, 0, 0, 0);
  ASSERT_TRUE(datatype::vector(4, 0, 7, kInt(), &type).ok());
  expect_bounds(*committed(type), 0, 0, 0, 0, 0);
  ASSERT_TRUE(datatype::indexed(1, none, none, kInt(), &type).ok());
  expect_bounds(*committed(type), 0, 0, 0, 0, 0);
  ASSERT_TRUE(datatype::create_struct(0, IntArray(none), IntArray(none), nullptr, &type).ok());
  expect_bounds(*committed(type), 0, 0, 0, 0, 0);
}

TEST(Construct, EmptyBlocksDoNotMoveTheBounds) {
  const int lengths[] = {0, 2, 0};
  const int at[] = {-100, 3, 100};
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::indexed(3, lengths, at, kInt(), &type).ok());
  expect_bounds(*committed(type), 8, 12, 8, 12, 8);
}

TEST(Construct, IndexedOfTheStandard) {
  // INDEXED(2, (3, 1), (4, 0), oldtype) of {(double, 0), (char, 8)}
  const int lengths[] = {3, 1};
  const int at[] = {4, 0};
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::indexed(2, lengths, at, *double_char(), &type).ok());
  expect_bounds(*committed(type), 36, 0, 112, 0, 64 + 41);
}

TEST(Construct, StructOfTheStandard) {
  // STRUCT(3, (2, 1, 3), (0, 16, 26), (MPI_FLOAT, type1, MPI_CHAR))
  const auto type1 = double_char();
  const int lengths[] = {2, 1, 3};
  const MPI_Aint at[] = {0, 16, 26};
  const MPI_Datatype types[] = {MPI_FLOAT, to_handle<MPI_Datatype>(type1.get()), MPI_CHAR};
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::create_struct(3, lengths, at, types, &type).ok());
  expect_bounds(*committed(type), 20, 0, 32, 0, 29);
}

TEST(Construct, ResizedBoundsStick) {
  Datatype* inner = nullptr;
  ASSERT_TRUE(datatype::create_resized(kInt(), -3, 9, &inner).ok());
  const auto keep = Ref<Datatype>::adopt(inner);
  expect_bounds(*inner, 4, -3, 9, 0, 4);
  // The standard's example: contiguous(2, type1) has lb -3 and ub 15.
  Datatype* two = nullptr;
  ASSERT_TRUE(datatype::contiguous(2, *inner, &two).ok());
  expect_bounds(*Ref<Datatype>::adopt(two), 8, -3, 18, 0, 13);
  // A part with explicit bounds makes natural ones of other parts invisible.
  const int lengths[] = {1, 1};
  const MPI_Aint at[] = {0, 1000};
  const MPI_Datatype types[] = {to_handle<MPI_Datatype>(inner), MPI_DOUBLE};
  Datatype* mixed = nullptr;
  ASSERT_TRUE(datatype::create_struct(2, lengths, at, types, &mixed).ok());
  expect_bounds(*Ref<Datatype>::adopt(mixed), 12, -3, 9, 0, 1008);
  // Resizing again replaces the marks.
  Datatype* again = nullptr;
  ASSERT_TRUE(datatype::create_resized(*inner, 0, 4, &again).ok());
  EXPECT_TRUE(committed(again)->dense());
}

TEST(Construct, AbsoluteAddressesWithBottom) {
  double a = 1.5;
  int b[2] = {7, 8};
  MPI_Aint at[2];
  ASSERT_TRUE(datatype::get_address(&a, &at[0]).ok());
  ASSERT_TRUE(datatype::get_address(b, &at[1]).ok());
  const int lengths[] = {1, 2};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::create_struct(2, lengths, at, types, &type).ok());
  const auto keep = committed(type);
  char packed[16];
  ASSERT_EQ(datatype::pack(DataView::of(MPI_BOTTOM, 1, *type), 0, packed, 16), 16u);
  double c;
  int d[2];
  std::memcpy(&c, packed, 8);
  std::memcpy(d, packed + 8, 8);
  EXPECT_EQ(c, 1.5);
  EXPECT_EQ(d[1], 8);
}

TEST(Construct, FreedPartsLiveOnInsideOthers) {
  Datatype *part = nullptr, *whole = nullptr;
  ASSERT_TRUE(datatype::vector(2, 1, 2, kInt(), &part).ok());
  Datatype* const address = part;
  ASSERT_TRUE(datatype::contiguous(2, *part, &whole).ok());
  ASSERT_TRUE(datatype::free(&part).ok());
  EXPECT_EQ(part, nullptr);
  const auto keep = committed(whole);
  const int data[] = {1, 2, 3, 4, 5, 6};
  int packed[4];
  datatype::pack(DataView::of(data, 1, *whole), 0, packed, sizeof packed);
  EXPECT_EQ(packed[3], 6);
  // The handle is gone for the user, although the object lives.
  Datatype* stale = address;
  EXPECT_EQ(datatype::free(&stale).mpi_class(), MPI_ERR_TYPE);
}

TEST(Construct, FreeWhileInUseKeepsTheLayout) {
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::vector(2, 1, 2, kInt(), &type).ok());
  ASSERT_TRUE(datatype::commit(&type).ok());
  const auto in_flight = Ref<Datatype>::share(*type);
  ASSERT_TRUE(datatype::free(&type).ok());
  EXPECT_FALSE(in_flight->committed());
  EXPECT_EQ(datatype::check_committed(*in_flight).mpi_class(), MPI_ERR_TYPE);
  const int data[] = {1, 2, 3};
  int packed[2];
  EXPECT_EQ(datatype::pack(DataView::of(data, 1, *in_flight), 0, packed, 8), 8u);
  EXPECT_EQ(packed[1], 3);
}

TEST(Construct, DupKeepsTheCommittedState) {
  Datatype *type = nullptr, *copy = nullptr;
  ASSERT_TRUE(datatype::vector(2, 1, 2, kInt(), &type).ok());
  ASSERT_TRUE(datatype::dup(*type, &copy).ok());
  EXPECT_FALSE(Ref<Datatype>::adopt(copy)->committed());
  ASSERT_TRUE(datatype::commit(&type).ok());
  ASSERT_TRUE(datatype::dup(*type, &copy).ok());
  EXPECT_TRUE(copy->committed());
  EXPECT_EQ(&copy->layout(), &type->layout());
  ASSERT_TRUE(datatype::free(&type).ok());
  ASSERT_TRUE(datatype::free(&copy).ok());
}

TEST(Construct, CountsBeyondInt) {
  const MPI_Count huge = MPI_Count{3} << 31;
  Datatype* type = nullptr;
  ASSERT_TRUE(datatype::contiguous(huge, kDouble(), &type).ok());
  expect_bounds(*committed(type), huge * 8, 0, huge * 8, 0, huge * 8);
  const MPI_Count lengths[] = {1, huge};
  const MPI_Count at[] = {huge, 0};
  ASSERT_TRUE(datatype::create_hindexed(2, lengths, at, kChar(), &type).ok());
  expect_bounds(*committed(type), huge + 1, 0, huge + 1, 0, huge + 1);
}

TEST(Construct, OverflowIsAnError) {
  Datatype* type = nullptr;
  EXPECT_EQ(datatype::contiguous(INT64_MAX / 4, kDouble(), &type).mpi_class(), MPI_ERR_ARG);
  EXPECT_EQ(datatype::vector(2, 1, INT64_MAX / 4, kDouble(), &type).mpi_class(), MPI_ERR_ARG);
  const MPI_Count one[] = {1}, far[] = {INT64_MAX - 2};
  EXPECT_EQ(datatype::create_hindexed(1, one, far, kDouble(), &type).mpi_class(), MPI_ERR_ARG);
  EXPECT_EQ(type, nullptr);
}

TEST(Construct, BadArgumentsAreNamed) {
  Datatype* type = nullptr;
  EXPECT_EQ(datatype::contiguous(-1, kInt(), &type).mpi_class(), MPI_ERR_COUNT);
  EXPECT_EQ(datatype::vector(1, -1, 1, kInt(), &type).mpi_class(), MPI_ERR_COUNT);
  const int lengths[] = {1, -2};
  const MPI_Aint at[] = {0, 8};
  Status st = datatype::create_hindexed(2, lengths, at, kInt(), &type);
  EXPECT_EQ(st.mpi_class(), MPI_ERR_ARG);
  EXPECT_STREQ(st.text(), "argument array_of_blocklengths[1] is -2; it must be 0 or more");
  const int ones[] = {1, 1};
  const MPI_Datatype types[] = {MPI_INT, MPI_DATATYPE_NULL};
  st = datatype::create_struct(2, ones, at, types, &type);
  EXPECT_EQ(st.mpi_class(), MPI_ERR_TYPE);
  EXPECT_STREQ(st.text(), "argument array_of_types[1] is MPI_DATATYPE_NULL or not a datatype");
  const int size[] = {4}, sub[] = {3}, start[] = {2};
  st = datatype::create_subarray(1, size, sub, start, MPI_ORDER_C, kInt(), &type);
  EXPECT_EQ(st.mpi_class(), MPI_ERR_ARG);
  EXPECT_STREQ(st.text(),
               "argument array_of_starts[0] is 2; it must be in 0..1, the size less the subsize of that dimension");
  EXPECT_EQ(datatype::create_subarray(1, size, sub, start, 7, kInt(), &type).mpi_class(), MPI_ERR_ARG);
  const int large[] = {5};
  st = datatype::create_subarray(1, size, large, start, MPI_ORDER_C, kInt(), &type);
  EXPECT_STREQ(st.text(), "argument array_of_subsizes[0] is 5; it must be in 1..4, the size of that dimension");
  const int block[] = {MPI_DISTRIBUTE_BLOCK}, fallback[] = {MPI_DISTRIBUTE_DFLT_DARG}, three[] = {3};
  st = datatype::create_darray(2, 0, 1, size, block, fallback, three, MPI_ORDER_C, kInt(), &type);
  EXPECT_STREQ(st.text(), "argument array_of_psizes makes a grid of at least 3 processes; argument size is 2");
  st = datatype::create_darray(3, 3, 1, size, block, fallback, three, MPI_ORDER_C, kInt(), &type);
  EXPECT_STREQ(st.text(), "argument rank is 3; it must be in 0..2");
  st = datatype::create_f90_real(99, 9999, &type);
  EXPECT_STREQ(st.text(),
               "no kind of this compiler has the precision (argument p, 99) and the range (argument r, 9999)");
}

TEST(Construct, NothingLeaks) {
  std::mt19937_64 random(7);
  const std::size_t before = datatype::layouts_alive();
  for (int i = 0; i < 200; ++i) oracle::random_sample(random, 4);
  EXPECT_EQ(datatype::layouts_alive(), before);
}

}  // namespace
}  // namespace ashlar
