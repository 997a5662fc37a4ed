// What the compiler makes of datatypes: the simplest form, shared between equals.
#include "framework/datatype/layout.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "framework/datatype/layout_make.h"
#include "tests/unit/datatype/type_map.h"

namespace ashlar::datatype {
namespace {

using Form = Layout::Form;
using oracle::committed;

Datatype& kDouble() { return predefined(MPI_DOUBLE); }

// By address: the call that sets `type` may be evaluated after the other argument.
Ref<Datatype> made(Status status, Datatype** type) {
  EXPECT_TRUE(status.ok()) << status.text();
  return committed(*type);
}

TEST(Layout, VectorIsStridedOfRuns) {
  Datatype* type = nullptr;
  const auto v = made(vector(10, 2, 5, kDouble(), &type), &type);
  const Layout& l = v->layout();
  EXPECT_EQ(l.form, Form::kStrided);
  EXPECT_EQ(l.count, 10u);
  EXPECT_EQ(l.stride, 40);
  EXPECT_EQ(l.child->form, Form::kRun);
  EXPECT_EQ(l.child->bytes, 16u);
  EXPECT_EQ(l.runs, 10u);
}

TEST(Layout, VectorWithoutGapsIsARun) {
  Datatype* type = nullptr;
  const auto v = made(vector(10, 2, 2, kDouble(), &type), &type);
  EXPECT_EQ(v->layout().form, Form::kRun);
  EXPECT_TRUE(v->dense());
}

TEST(Layout, RowsThatContinueBecomeOneRow) {
  // A plane of a cube: 4 rows of 8 columns, every second double, no jump between rows.
  Datatype *row = nullptr, *plane = nullptr;
  const auto r = made(vector(8, 1, 2, kDouble(), &row), &row);
  const auto p = made(create_hvector(4, 1, 128, *r, &plane), &plane);
  EXPECT_EQ(p->layout().form, Form::kStrided);
  EXPECT_EQ(p->layout().count, 32u);
  EXPECT_EQ(p->layout().child->form, Form::kRun);
}

TEST(Layout, IndexedIsSimplifiedByWhatItSays) {
  Datatype* type = nullptr;
  const int lengths[] = {2, 2, 2}, even[] = {0, 5, 10}, joined[] = {0, 2, 4}, odd[] = {0, 5, 7};
  const int mixed[] = {2, 1, 3};
  EXPECT_EQ(made(indexed(3, lengths, even, kDouble(), &type), &type)->layout().form, Form::kStrided);
  EXPECT_EQ(made(indexed(3, lengths, joined, kDouble(), &type), &type)->layout().form, Form::kRun);
  const auto blocks = made(indexed(3, lengths, odd, kDouble(), &type), &type);
  EXPECT_EQ(blocks->layout().form, Form::kBlocks);  // the last two are neighbours: 2 and 4 doubles
  EXPECT_EQ(blocks->layout().count, 2u);
  const int apart[] = {0, 5, 9};
  EXPECT_EQ(made(indexed(3, lengths, apart, kDouble(), &type), &type)->layout().form, Form::kIndexed);
  EXPECT_EQ(made(indexed(3, mixed, apart, kDouble(), &type), &type)->layout().form, Form::kBlocks);
}

TEST(Layout, ManySmallEqualBlocksStayEqual) {
  // Every third touches its neighbour; joining would leave unequal blocks.
  std::vector<int> at;
  for (int i = 0, next = 0; i < 99; ++i) at.push_back(std::exchange(next, next + (i % 3 == 0 ? 1 : 2)));
  Datatype* type = nullptr;
  const auto some = made(create_indexed_block(99, 1, at.data(), kDouble(), &type), &type);
  EXPECT_EQ(some->layout().form, Form::kIndexed);
  EXPECT_EQ(some->layout().count, 99u);
  for (int i = 0; i < 99; ++i) at[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(made(create_indexed_block(99, 1, at.data(), kDouble(), &type), &type)->layout().form, Form::kRun);
}

TEST(Layout, EqualShapesAreOne) {
  Datatype* type = nullptr;
  const int lengths[] = {2, 1, 3}, at[] = {0, 5, 9}, later[] = {100, 105, 109};
  const MPI_Count wide[] = {0, 5, 9};
  const auto a = made(indexed(3, lengths, at, kDouble(), &type), &type);
  const auto b = made(indexed(3, lengths, later, kDouble(), &type), &type);
  const auto c = made(indexed(3, lengths, wide, kDouble(), &type), &type);
  EXPECT_EQ(&a->layout(), &b->layout());
  EXPECT_EQ(&a->layout(), &c->layout());
  EXPECT_EQ(b->origin(), 800);
  const auto v1 = made(vector(7, 3, 9, kDouble(), &type), &type);
  const auto v2 = made(vector(7, 3, 9, predefined(MPI_INT64_T), &type), &type);
  EXPECT_EQ(&v1->layout(), &v2->layout());
}

TEST(Layout, TablesAreNarrowWhileTheyCan) {
  Datatype* type = nullptr;
  const MPI_Count near[] = {0, 100, 50}, far[] = {0, MPI_Count{1} << 31, 50};
  const auto a = made(create_hindexed_block(3, 8, near, predefined(MPI_CHAR), &type), &type);
  EXPECT_FALSE(a->layout().wide);
  const auto b = made(create_hindexed_block(3, 8, far, predefined(MPI_CHAR), &type), &type);
  EXPECT_TRUE(b->layout().wide);
  EXPECT_EQ(b->layout().displacement(1), std::ptrdiff_t{1} << 31);
}

TEST(Layout, PartIsFoundByBisection) {
  RunCollector collector;
  for (int i = 0; i < 1000; ++i) collector.add(i * 100, 1 + static_cast<std::size_t>(i % 7));
  const Placed placed = collector.finish();
  const Layout& l = *placed.layout;
  ASSERT_EQ(l.form, Form::kBlocks);
  for (std::size_t i = 0; i < l.count; ++i)
    for (std::size_t at = l.start(i); at < l.start(i + 1); ++at) ASSERT_EQ(l.part_at(at), i);
}

TEST(Layout, NestsMayBeDeeperThanTheStack) {
  Ref<Datatype> inner = Ref<Datatype>::share(kDouble());
  for (int i = 0; i < 50000; ++i) {
    Datatype* type = nullptr;
    ASSERT_TRUE(contiguous(1, *inner, &type).ok());
    inner = Ref<Datatype>::adopt(type);
  }
  Datatype* type = inner.get();
  ASSERT_TRUE(commit(&type).ok());
  EXPECT_TRUE(type->dense());
}

}  // namespace
}  // namespace ashlar::datatype
