// What the compiler makes of datatypes: the simplest form, shared between equals.
#include "framework/datatype/layout.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/datatype/layout_make.h"
#include "framework/datatype/layout_words.h"
#include "framework/datatype/pvars.h"
#include "framework/object/handle.h"
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

std::string words_of(const Datatype& type, std::size_t room = 400) {
  std::string text(room, '?');
  describe_layout(type, text.data(), room);
  return text.c_str();
}

TEST(Layout, IsToldInWords) {
  Datatype& real = predefined(MPI_DOUBLE);
  Datatype *row = nullptr, *grid = nullptr, *blocks = nullptr, *scattered = nullptr, *pair = nullptr, *dense = nullptr;
  ASSERT_TRUE(vector(512, 1, 2, real, &row).ok());
  EXPECT_EQ(words_of(*committed(row)), "512 x 8 bytes, 16 apart");
  ASSERT_TRUE(vector(512, 1, 2, real, &row).ok());
  const auto keep = committed(row);
  ASSERT_TRUE(create_hvector(3, 1, 100000, *row, &grid).ok());
  EXPECT_EQ(words_of(*committed(grid)), "3 x (512 x 8 bytes, 16 apart), 100000 apart");
  const int lengths[] = {1, 3, 2, 1, 5, 1, 2}, places[] = {1, 7, 13, 20, 25, 40, 50};
  ASSERT_TRUE(indexed(7, IntArray(lengths), IntArray(places), real, &blocks).ok());
  EXPECT_EQ(words_of(*committed(blocks)),
            "7 runs: 8 bytes at 0, 24 bytes at 48, 16 bytes at 96, 8 bytes at 152, ..., from 8 on");
  ASSERT_TRUE(create_indexed_block(4, 1, IntArray(places), predefined(MPI_CHAR), &scattered).ok());
  EXPECT_EQ(words_of(*committed(scattered)), "4 x 1 byte at 0, 6, 12, 19, from 1 on");
  const int ones[] = {1, 1};
  const MPI_Aint at[] = {0, 100};
  const MPI_Datatype parts[] = {to_handle<MPI_Datatype>(row), MPI_INT};
  ASSERT_TRUE(create_struct(2, IntArray(ones), IntArray(at), parts, &pair).ok());
  EXPECT_EQ(words_of(*committed(pair)), "2 parts: (512 x 8 bytes, 16 apart) at 0, 4 bytes at 100");
  ASSERT_TRUE(contiguous(5, real, &dense).ok());
  EXPECT_EQ(words_of(*committed(dense)), "one run of 40 bytes");
  ASSERT_TRUE(contiguous(0, real, &dense).ok());
  EXPECT_EQ(words_of(*committed(dense)), "nothing");
  EXPECT_EQ(words_of(*row, 12), "512 x 8 ...");
}

TEST(Layout, SharedOnesAreCounted) {
  const auto value = [](const char* name) {
    for (const ashlar_pvar_row& row : kPvars) {
      const auto* const block = reinterpret_cast<const std::byte*>(&layout_counters);
      if (std::string(row.name) == name) return reinterpret_cast<const Counter*>(block + row.offset)->get();
    }
    ADD_FAILURE() << name;
    return std::uint64_t{0};
  };
  const auto make = [] {
    Datatype* type = nullptr;
    EXPECT_TRUE(vector(77, 3, 1001, predefined(MPI_INT), &type).ok());
    return committed(type);
  };
  const auto one = make();
  const std::uint64_t layouts = value("layouts"), made = value("layouts_made"), shared = value("layouts_shared");
  {
    const auto other = make();
    EXPECT_EQ(&one->layout(), &other->layout());
    EXPECT_EQ(value("layouts"), layouts);
    EXPECT_GT(value("layouts_made"), made);
    EXPECT_EQ(value("layouts_made") - made, value("layouts_shared") - shared);
  }
  EXPECT_EQ(value("layouts"), layouts);
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
