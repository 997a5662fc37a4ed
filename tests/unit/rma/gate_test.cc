// The states of the range gate and of the update lock.
#include <gtest/gtest.h>

#include <thread>

#include "framework/rma/update_lock.h"
#include "tests/unit/rma/updates.h"

namespace ashlar::rma {
namespace {

using test::Shared;

class GateTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    datatype::register_predefined();
    ASSERT_TRUE(register_for_barriers());
  }
  Guard guard(std::uint32_t own) { return shared.guard(Guard::Kind::kElements, own); }
  void add_one(std::uint32_t own) { test::add(guard(own), shared.memory(), 0, MPI_SUM, MPI_DOUBLE, &one, 1); }
  void add_row(std::uint32_t own, MPI_Count n = 300) {
    test::add(guard(own), shared.memory(), 0, MPI_SUM, MPI_DOUBLE, row.data(), n);
  }
  std::uint32_t gate_now() { return shared.line().gate.load(); }
  double value() { return *shared.words<double>(); }

  Shared shared{sizeof(double) * 1024};
  const double one = 1;
  const std::vector<double> row = std::vector<double>(1024, 1.0);
};

TEST_F(GateTest, StaysClosedUntilAnElementIsUpdated) {
  add_one(0);
  EXPECT_EQ(gate_now(), 0U);
  add_row(1);
  EXPECT_EQ(gate_now(), gate::kIdle);
  add_row(2, 20);  // the gate is closed already: short ranges pay, too
  EXPECT_EQ(gate_now(), gate::kIdle);
  add_one(0);
  EXPECT_EQ(gate_now(), 0U);
  add_row(2, 20);
  EXPECT_EQ(gate_now(), 0U);
  EXPECT_EQ(value(), 5);
}

TEST_F(GateTest, ReadsAndReplacementsLeaveItOpen) {
  std::vector<double> was(1024);
  test::add(guard(0), shared.memory(), 0, MPI_REPLACE, MPI_DOUBLE, row.data(), 1024, was.data());
  test::add<double>(guard(0), shared.memory(), 0, MPI_NO_OP, MPI_DOUBLE, nullptr, 1024, was.data());
  EXPECT_EQ(gate_now(), 0U);
  EXPECT_EQ(was, row);
}

TEST_F(GateTest, ElementsWaitForTheHolder) {
  std::thread other;
  {
    const Guard holder = guard(0);
    RangeTurn turn(holder);
    other = std::thread([&] { add_one(1); });
    while (shared.line().elements_waiting == 0) std::this_thread::yield();
    while (shared.origin(1).updating.load() != 0) std::this_thread::yield();  // it looks again now and then
    EXPECT_EQ(value(), 0);
  }
  other.join();
  EXPECT_EQ(value(), 1);
  EXPECT_EQ(gate_now(), 0U);
}

TEST_F(GateTest, TheHolderGivesWay) {
  const Guard holder = guard(0);
  RangeTurn turn(holder);
  std::thread other([&] { add_one(1); });
  while (value() == 0) turn.give_way();
  other.join();
  EXPECT_EQ(gate_now() & gate::kHolder, 1U);
}

TEST_F(GateTest, RangesWaitForEachOther) {
  std::thread other;
  {
    const Guard holder = guard(0);
    RangeTurn turn(holder);
    other = std::thread([&] { add_row(1); });
    while (shared.line().ranges_waiting == 0) std::this_thread::yield();
    EXPECT_EQ(value(), 0);
  }
  other.join();
  EXPECT_EQ(value(), 1);
  EXPECT_EQ(gate_now(), gate::kIdle);  // the second one took it closed
}

TEST_F(GateTest, TheHolderWaitsForElementsUnderWay) {
  shared.origin(3).updating = 1;  // a process in the middle of an update
  std::thread other([&] { add_row(1); });
  while (shared.origin(3).awaited == 0) std::this_thread::yield();
  EXPECT_EQ(value(), 0);
  shared.origin(3).updating = 0;
  other.join();
  EXPECT_EQ(shared.origin(3).awaited.load(), 0U);
  EXPECT_EQ(value(), 1);
}

// One that is awaited holds back for a while, but not for good: the process that waits may be gone.
TEST_F(GateTest, HoldsBackForAWhile) {
  shared.origin(0).awaited = 1;
  add_one(0);
  EXPECT_EQ(value(), 1);
}

TEST_F(GateTest, FencesStayOn) {
  shared.line().gate = gate::kFenced;
  add_one(0);
  add_row(1);
  EXPECT_EQ(gate_now(), gate::kFenced | gate::kIdle);
  add_one(0);
  EXPECT_EQ(gate_now(), gate::kFenced);
  EXPECT_EQ(value(), 3);
}

TEST_F(GateTest, LockNamesItsHolder) {
  const Guard locked = shared.guard(Guard::Kind::kLocked, 4);
  std::thread other;
  {
    const UpdateLockGuard held(locked);
    EXPECT_EQ(shared.line().holder.load(), 5U);
    other = std::thread([&] { test::add(locked, shared.memory(), 0, MPI_SUM, MPI_DOUBLE, &one, 1); });
    while (shared.line().lock.load() != 2) std::this_thread::yield();  // until it sleeps
    EXPECT_EQ(value(), 0);
  }
  other.join();
  EXPECT_EQ(value(), 1);
  EXPECT_EQ(shared.line().lock.load(), 0U);
  EXPECT_EQ(shared.line().holder.load(), 0U);
}

TEST(RangeLimitsTest, Granularity) {
  EXPECT_EQ(RangeLimits::of(256, 0).elements, 256U);
  EXPECT_EQ(RangeLimits::of(256, 0).bytes, 64U * 1024);
  EXPECT_EQ(RangeLimits::of(256, 1).elements, RangeLimits::kNever);
  EXPECT_EQ(RangeLimits::of(256, 8).elements, RangeLimits::kNever);
  EXPECT_EQ(RangeLimits::of(100, 4096).elements, 100U);
  EXPECT_EQ(RangeLimits::of(100, 4096).bytes, 4096U);
  EXPECT_EQ(RangeLimits::of(100, 9).bytes, RangeLimits::kLeastBytes);
  EXPECT_EQ(RangeLimits::of(~0ull, ~0ull).bytes, RangeLimits::kMostBytes);
  EXPECT_EQ(RangeLimits::of(~0ull, 0).elements, RangeLimits::kNever);
}

}  // namespace
}  // namespace ashlar::rma
