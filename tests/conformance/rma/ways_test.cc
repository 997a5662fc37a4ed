// What ways owe (framework/rma/way.h): puts and gets of any layout, completion, gates.
#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "framework/rma/ways.h"
#include "tests/conformance/rma/suite.h"

namespace ashlar::test {
namespace {

using WaysTest = RmaTest;
INSTANTIATE_TEST_SUITE_P(, WaysTest, testing::ValuesIn(rma_cases()), name_of);

struct Release {
  void operator()(Datatype* type) const { release(type); }
};
using OwnedType = std::unique_ptr<Datatype, Release>;

/// `amount` bytes in several runs within `room`, not in the order of addresses.
OwnedType layout(std::mt19937& random, int amount, int room) {
  const int runs = 1 + static_cast<int>(random() % 5);
  std::vector<MPI_Count> lengths(static_cast<std::size_t>(runs), amount / runs), offsets;
  lengths.back() += amount % runs;
  MPI_Count at = 0;
  for (const MPI_Count length : lengths) {
    at += static_cast<MPI_Count>(random() % static_cast<unsigned>((room - amount) / runs + 1));
    offsets.push_back(at);
    at += length;
  }
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    const std::size_t other = random() % (i + 1);
    std::swap(offsets[i], offsets[other]);
    std::swap(lengths[i], lengths[other]);
  }
  Datatype* made = nullptr;
  EXPECT_TRUE(datatype::create_hindexed(runs, lengths.data(), offsets.data(), bytes(), &made).ok());
  EXPECT_TRUE(datatype::commit(&made).ok());
  return OwnedType(made);
}

/// Whether the component under test finds a way by itself.
bool reaches(RmaWorld& world, int of) {
  rma::Target target = world.target(0, of);
  target.memory = nullptr;
  target.guard = nullptr;
  target.copies = target.updates = nullptr;
  const LaneGuard guard(world.window(0).lane().lock);
  const Status reached = rma_subject().component->reach(world.window(0), target);
  EXPECT_TRUE(!reached.ok() || (target.copies != nullptr && target.updates != nullptr))
      << "it says why it leaves one open";
  return target.copies != nullptr;
}

// Without a way of its own the rest of this suite would be about others. Regions may be left to them.
TEST_P(WaysTest, TheComponentReachesSomething) {
  RmaWorld world(2, kBytes, options(), GetParam().memory);
  EXPECT_TRUE(reaches(world, 1) || GetParam().memory == Memory::kDynamic);
  static_cast<void>(reaches(world, 0));
}

// A component that is asked later completes what others have found.
TEST_P(WaysTest, ReachSetsOnlyWhatIsOpen) {
  RmaWorld world(2, kBytes, options(), GetParam().memory);
  rma::Way taken = {};
  taken.name = "taken";
  for (const bool copies : {false, true}) {
    for (int of = 0; of < 2; ++of) {
      rma::Target target = world.target(0, of);
      target.memory = nullptr;
      target.guard = nullptr;
      target.copies = copies ? &taken : nullptr;
      target.updates = copies ? nullptr : &taken;
      const LaneGuard guard(world.window(0).lane().lock);
      static_cast<void>(rma_subject().component->reach(world.window(0), target));
      EXPECT_EQ((copies ? target.copies : target.updates), &taken);
    }
  }
}

TEST_P(WaysTest, EveryTargetHasWays) {
  RmaWorld world(kRanks, kBytes, options(), GetParam().memory);
  for (int me = 0; me < kRanks; ++me) {
    for (int of = 0; of < kRanks; ++of) {
      const rma::Target& target = world.target(me, of);
      ASSERT_NE(target.copies, nullptr);
      ASSERT_NE(target.updates, nullptr);
      for (const rma::Way* const way : {target.copies, target.updates}) {
        EXPECT_NE(way, &rma::unresolved);
        EXPECT_STRNE(way->name, "");
        EXPECT_TRUE(way->put != nullptr && way->get != nullptr && way->update != nullptr) << way->name;
      }
      EXPECT_EQ(target.outstanding, false);
    }
  }
}

// After a flush the target's memory has it, whatever the target does meanwhile; after one of the origin's side alone
// its buffer may be used again.
TEST_P(WaysTest, PutsAndGetsOfAnyLayout) {
  constexpr int kTimes = 40, kSlot = 2048;
  RmaWorld world(kRanks, kRanks * kSlot, options(), GetParam().memory);
  world.run([&](int me) {
    std::mt19937 random = random_of(me);
    for (int time = 0; time < kTimes; ++time) {
      const int to = static_cast<int>(random() % kRanks), amount = static_cast<int>(random() % 1500);
      const OwnedType here = layout(random, amount, 1900), there = layout(random, amount, 1900);
      std::vector<std::byte> buffer(kSlot), packed(static_cast<std::size_t>(amount)), seen(packed.size());
      std::ranges::generate(buffer, [&] { return static_cast<std::byte>(random()); });
      datatype::pack(DataView::of(buffer.data(), 1, *here), 0, packed.data(), packed.size());
      const MPI_Aint slot = me * kSlot;  // one writer each
      ASSERT_TRUE(world.put(me, DataView::of(buffer.data(), 1, *here), to, world.place(to, slot, 1, *there)).ok());
      if (random() % 2 == 0) {
        ASSERT_TRUE(world.flush(me, to, false).ok());
        std::ranges::fill(buffer, std::byte{0x55});
      }
      ASSERT_TRUE(world.flush(me, to).ok());
      datatype::pack(DataView::of(world.memory(to) + slot, 1, *there), 0, seen.data(), seen.size());
      ASSERT_EQ(seen, packed) << "put from " << me << " to " << to << ", time " << time;
      std::vector<std::byte> back(kSlot);
      ASSERT_TRUE(
          world.get(me, {.data = back.data(), .count = 1, .type = here.get()}, to, world.place(to, slot, 1, *there))
              .ok());
      ASSERT_TRUE(world.flush(me, to, false).ok());
      datatype::pack(DataView::of(back.data(), 1, *here), 0, seen.data(), seen.size());
      ASSERT_EQ(seen, packed) << "get";
    }
  });
}

// A way without flush is complete when its call returns; one with it says that something is outstanding, or is.
TEST_P(WaysTest, NothingIsOutstandingThatNoFlushWaitsFor) {
  RmaWorld world(2, kBytes, options(), GetParam().memory);
  world.run([&](int me) {
    if (me != 0) return;
    std::int64_t value = 0;
    for (int time = 0; time < 20; ++time) {
      ++value;
      ASSERT_TRUE(
          world.put(0, DataView::of(&value, sizeof value, bytes()), 1, world.place(1, 64, sizeof value, bytes())).ok());
      const rma::Target& target = world.target(0, 1);
      EXPECT_FALSE(target.copies->flush == nullptr && target.outstanding);
      if (target.outstanding) {
        EXPECT_TRUE(world.window(0).any_outstanding);
        ASSERT_TRUE(world.flush(0, 1).ok());
        EXPECT_FALSE(target.outstanding);
      }
      std::int64_t there = 0;
      std::memcpy(&there, world.memory(1) + 64, sizeof there);
      ASSERT_EQ(there, value);
    }
    ASSERT_TRUE(world.flush(0, 1).ok());  // there is nothing to wait for
  });
}

TEST_P(WaysTest, AGateIsToldOnceWhenTheBufferIsFree) {
  RmaWorld world(2, kBytes, options(), GetParam().memory);
  world.run([&](int me) {
    if (me != 0) return;
    for (int time = 0; time < 20; ++time) {
      std::vector<std::int32_t> sent(256, time), received(256, -1);
      Gate put, got;
      const auto view = [](std::vector<std::int32_t>& of) {
        return DataView{.data = of.data(), .count = static_cast<MPI_Count>(of.size() * 4), .type = &bytes()};
      };
      ASSERT_TRUE(world.put(0, view(sent), 1, world.place(1, 0, 1024, bytes()), &put).ok());
      while (!put.open()) world.poll(0);
      EXPECT_TRUE(put.status().ok());
      std::ranges::fill(sent, -7);
      ASSERT_TRUE(world.flush(0, 1).ok());
      ASSERT_TRUE(world.get(0, view(received), 1, world.place(1, 0, 1024, bytes()), &got).ok());
      while (!got.open()) world.poll(0);
      EXPECT_EQ(received, std::vector<std::int32_t>(256, time));
      EXPECT_EQ(put.outstanding(), 0);
      ASSERT_TRUE(world.flush(0, 1).ok());
    }
  });
}

TEST_P(WaysTest, NothingMayBeMoved) {
  RmaWorld world(2, kBytes, options(), GetParam().memory);
  world.run([&](int me) {
    const int to = 1 - me;
    std::int32_t none = 0;
    const DataView empty{.data = nullptr, .count = 0, .type = &bytes()};
    ASSERT_TRUE(world.put(me, empty, to, world.place(to, 0, 0, bytes())).ok());
    ASSERT_TRUE(world.get(me, empty, to, world.place(to, 0, 0, bytes())).ok());
    ASSERT_TRUE(world.update(me, MPI_SUM, MPI_INT32_T, &none, nullptr, to, 0, 0).ok());
    ASSERT_TRUE(world.flush(me, to).ok());
  });
}

}  // namespace
}  // namespace ashlar::test
