// What updates owe: every operation on every datatype, atomic for each element beside those of all processes, whatever
// ways they take, and in the order of an origin's calls.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "framework/rma/apply.h"
#include "tests/conformance/rma/suite.h"

namespace ashlar::test {
namespace {

using UpdatesTest = RmaTest;
INSTANTIATE_TEST_SUITE_P(, UpdatesTest, testing::ValuesIn(rma_cases()), name_of);

const MPI_Op kOps[] = {MPI_SUM,  MPI_MIN, MPI_MAX,  MPI_PROD,   MPI_BAND,   MPI_BOR,     MPI_BXOR,
                       MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
const MPI_Datatype kTypes[] = {MPI_INT8_T,  MPI_UINT8_T, MPI_INT16_T,  MPI_UINT16_T, MPI_INT32_T,        MPI_UINT32_T,
                               MPI_INT64_T, MPI_FLOAT,   MPI_DOUBLE,   MPI_BYTE,     MPI_C_BOOL,         MPI_2INT,
                               MPI_AINT,    MPI_COUNT,   MPI_LONG_INT, MPI_CHAR,     MPI_C_FLOAT_COMPLEX};

/// Small numbers in whatever the elements are: bytes of 0 and 1 at the places where integers and pairs have them.
std::vector<std::byte> small_elements(std::mt19937& random, const Datatype& type, std::size_t count) {
  std::vector<std::byte> out(count * static_cast<std::size_t>(type.extent()));
  for (std::size_t at = 0; at < out.size(); at += 4) out[at] = static_cast<std::byte>(random() % 2);
  return out;
}

/// The elements without the holes of pairs.
std::vector<std::byte> packed(const std::byte* at, MPI_Count count, Datatype& type) {
  std::vector<std::byte> out(static_cast<std::size_t>(count * type.size()));
  datatype::pack(DataView::of(at, count, type), 0, out.data(), out.size());
  return out;
}

// The reference is the same function on memory of this process that nothing else updates.
TEST_P(UpdatesTest, EveryOperationOnEveryDatatype) {
  constexpr std::size_t kSlot = 2048;
  RmaWorld world(2, kSlot, options(), GetParam().memory);
  world.run([&](int me) {
    if (me != 0) return;
    std::mt19937 random = random_of(0);
    std::vector<std::byte> model(kSlot);
    const rma::Guard alone;
    for (const MPI_Op handle : kOps) {
      for (const MPI_Datatype element : kTypes) {
        Datatype& type = datatype::predefined(element);
        const ReduceOp& op = datatype::predefined_op(handle);
        if (op.code() < ReduceOp::Code::kReplace && !op.takes(type)) continue;
        const std::size_t count = random() % 3 == 0 ? 1 : 1 + random() % 60;
        const auto extent = static_cast<std::size_t>(type.extent());
        const MPI_Aint offset = static_cast<MPI_Aint>(random() % 2 == 0 ? 64 : 64 + random() % 8);
        const std::vector<std::byte> was = small_elements(random, type, count),
                                     origin = small_elements(random, type, count);
        std::memcpy(world.memory(1) + offset, was.data(), was.size());
        std::memcpy(model.data() + offset, was.data(), was.size());
        std::vector<std::byte> result(count * extent), expected(count * extent);
        const bool fetches = random() % 2 == 0 || handle == MPI_NO_OP;
        ASSERT_TRUE(world
                        .update(0, handle, element, origin.data(), fetches ? result.data() : nullptr, 1, offset,
                                static_cast<MPI_Count>(count))
                        .ok());
        ASSERT_TRUE(world.flush(0, 1).ok());
        const auto items = static_cast<MPI_Count>(count);
        const DataView into = fetches ? DataView{.data = expected.data(), .count = items, .type = &type} : DataView{};
        rma::Target self;
        ASSERT_TRUE(rma::apply(alone, model.data(),
                               {.window = world.window(0),
                                .target = self,
                                .op = op,
                                .element = type,
                                .origin = DataView::of(origin.data(), items, type),
                                .result = into,
                                .place = {.offset = offset, .count = items, .type = &type},
                                .compare = nullptr,
                                .done = nullptr})
                        .ok());
        ASSERT_EQ(packed(world.memory(1) + offset, items, type), packed(model.data() + offset, items, type))
            << op.name() << " on " << type.name() << ", " << count << " at " << offset;
        ASSERT_EQ(packed(result.data(), items, type), packed(expected.data(), items, type))
            << op.name() << " on " << type.name();
      }
    }
  });
}

/// Adds one to `elements` of rank 0 from every process in many ways; all are counted.
template <class T>
void count_in_all_ways(RmaWorld& world, MPI_Datatype element, MPI_Aint offset, unsigned seed) {
  constexpr int kTimes = 60;
  constexpr std::size_t kMany = 300;
  std::vector<std::vector<int>> tickets(static_cast<std::size_t>(world.size()));
  std::atomic<int> longs{0};
  world.run([&](int me) {
    std::mt19937 random(seed * 77 + static_cast<unsigned>(me));
    std::vector<T> ones(kMany, 1), fetched(kMany);
    for (int time = 0; time < kTimes; ++time) {
      const unsigned kind = static_cast<unsigned>(random() % 6);
      const bool many = kind == 0;
      longs += many ? 1 : 0;
      ASSERT_TRUE(world.update(me, MPI_SUM, element, ones.data(), fetched.data(), 0, offset, many ? kMany : 1).ok());
      ASSERT_TRUE(world.flush(me, 0).ok());
      tickets[static_cast<std::size_t>(me)].push_back(static_cast<int>(fetched[0]));
    }
  });
  std::vector<int> all;
  for (const auto& own : tickets) {
    EXPECT_TRUE(std::ranges::is_sorted(own)) << "an origin's updates changed places";
    all.insert(all.end(), own.begin(), own.end());
  }
  std::ranges::sort(all);
  std::vector<int> expected(all.size());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected) << "of each count one process was told";
  T first, last;
  std::memcpy(&first, world.memory(0) + offset, sizeof first);
  std::memcpy(&last, world.memory(0) + offset + (kMany - 1) * sizeof last, sizeof last);
  EXPECT_EQ(first, static_cast<T>(all.size()));
  EXPECT_EQ(last, static_cast<T>(longs.load()));
}

TEST_P(UpdatesTest, OfAllProcessesAreAtomic) {
  {
    RmaWorld world(kRanks, kBytes, options(), GetParam().memory);
    count_in_all_ways<std::int64_t>(world, MPI_INT64_T, 0, GetParam().seed);
  }
  RmaWorld world(kRanks, kBytes, options(), GetParam().memory);
  count_in_all_ways<std::int16_t>(world, MPI_INT16_T, 6, GetParam().seed);
}
TEST_P(UpdatesTest, OfFloatingPointAreAtomic) {
  RmaWorld world(kRanks, kBytes, options(), GetParam().memory);
  count_in_all_ways<double>(world, MPI_DOUBLE, 8, GetParam().seed);
}
TEST_P(UpdatesTest, ThatAreNotAlignedAreAtomic) {
  RmaWorld world(kRanks, kBytes, options(), GetParam().memory);
  count_in_all_ways<std::int32_t>(world, MPI_INT32_T, 61, GetParam().seed);  // across a cache line
}

// Each process raises a counter by compare and swap: none is lost.
TEST_P(UpdatesTest, CompareAndSwapCounts) {
  constexpr int kTimes = 25;
  RmaWorld world(kRanks, kBytes, options(), GetParam().memory);
  world.run([&](int me) {
    for (int time = 0; time < kTimes; ++time) {
      for (std::int64_t was = 0;;) {
        const std::int64_t next = was + 1;
        std::int64_t seen = -1;
        ASSERT_TRUE(world.update(me, MPI_REPLACE, MPI_INT64_T, &next, &seen, 1, 128, 1, &was).ok());
        ASSERT_TRUE(world.flush(me, 1).ok());
        if (seen == was) break;
        was = seen;
      }
    }
  });
  std::int64_t count = 0;
  std::memcpy(&count, world.memory(1) + 128, sizeof count);
  EXPECT_EQ(count, kRanks * kTimes);
}

// One process replaces by numbers that grow, in updates of one element and of many, without waiting for them; others
// read whole elements that never fall.
TEST_P(UpdatesTest, OfOneOriginKeepTheirOrder) {
  constexpr std::int64_t kTimes = 150;
  constexpr std::size_t kMany = 20;
  RmaWorld world(kRanks, kBytes, options(), GetParam().memory);
  std::atomic<bool> over{false};
  world.run([&](int me) {
    if (me == 0) {
      std::vector<std::array<std::int64_t, kMany>> sent(kTimes);
      for (std::int64_t time = 0; time < kTimes; ++time) {
        auto& values = sent[static_cast<std::size_t>(time)];
        values.fill(time << 32 | time);
        ASSERT_TRUE(
            world.update(0, MPI_REPLACE, MPI_INT64_T, values.data(), nullptr, 1, 256, time % 3 == 0 ? kMany : 1).ok());
      }
      ASSERT_TRUE(world.flush(0, 1).ok());
      over = true;
      return;
    }
    for (std::int64_t last = 0; !over;) {
      std::int64_t seen = -1;
      ASSERT_TRUE(world.update(me, MPI_NO_OP, MPI_INT64_T, nullptr, &seen, 1, 256).ok());
      ASSERT_TRUE(world.flush(me, 1).ok());
      EXPECT_EQ(seen >> 32, seen & 0xffffffff) << "a torn element";
      EXPECT_GE(seen, last);
      last = seen;
    }
  });
  std::int64_t value = 0;
  std::memcpy(&value, world.memory(1) + 256, sizeof value);
  EXPECT_EQ(value & 0xffffffff, kTimes - 1);
}

}  // namespace
}  // namespace ashlar::test
