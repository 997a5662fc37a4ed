#include "framework/coll/co.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

#include "framework/coll/op.h"
#include "framework/progress/lane.h"
#include "framework/progress/peer.h"

namespace ashlar::coll {
namespace {

/// A wire whose messages are only written down; the test completes them by hand.
class HandWire final : public Wire {
 public:
  explicit HandWire(Lane* lane) : Wire(lane) {}
  Status send(Rank to, const DataView&, Tag, Gate& gate) override {
    if (to == refused) return Status::fail(MPI_ERR_OTHER, "refused");
    sent.push_back(to);
    gate.add();
    gates.push_back(&gate);
    return {};
  }
  Status recv(Rank, const DataView&, Tag, Gate& gate) override {
    gate.add();
    gates.push_back(&gate);
    return {};
  }
  void abandon(Gate& gate) override {
    for (Gate*& g : gates) {
      if (g == &gate) std::exchange(g, nullptr)->arrive(Status::fail(MPI_ERR_OTHER, "given up"));
    }
  }
  void wait(Gate& gate) override {
    ++waits;
    for (Gate*& g : gates) {
      if (g == &gate) std::exchange(g, nullptr)->arrive({});
    }
  }
  Status wait(Condition& condition) override {
    while (!condition.holds(condition)) {
    }
    return {};
  }
  void watch(Condition& condition) override { watched = &condition; }
  void wake(Rank) override {}
  Status can_go_on(Tag) override { return {}; }

  std::vector<Rank> sent;
  std::vector<Gate*> gates;
  Condition* watched = nullptr;
  Rank refused = -1;
  int waits = 0;
};

Co two_rounds(Op& op, const int& factor) {
  Gate gate;
  Status st;
  op.send(1 * factor, nullptr, 0, gate);
  st = co_await gate;
  if (!st.ok()) co_return st;
  op.send(2 * factor, nullptr, 0, gate);
  op.recv(3, nullptr, 0, gate);
  st = co_await gate;
  co_return st;
}

Co parent(Op& op, const int& factor) {
  Gate gate;
  Status st;
  const Co child = two_rounds(op, factor);
  op.join(child, gate);
  st = co_await gate;
  co_return st;
}

struct Counter : Condition {
  int looks = 0, enough = 3;
  static bool look(Condition& self) {
    auto& counter = static_cast<Counter&>(self);
    return ++counter.looks >= counter.enough;
  }
};

Co waits_for_condition(Op&, Counter& counter) {
  Status st;
  st = co_await counter;
  co_return st;
}

class CoTest : public testing::Test {
 protected:
  CoTest()
      : peers_({}, 1, 1), lane_(0, peers_, progress::Config{}), wire_(&lane_), block_(memory_, sizeof memory_, cache_) {
    datatype::register_predefined();
  }
  void run_ready() ASHLAR_NO_THREAD_SAFETY {
    while (Waiter* waiter = lane_.ready.pop_front()) waiter->run(*waiter);
  }
  void arrive(std::size_t i, Status outcome = {}) { std::exchange(wire_.gates[i], nullptr)->arrive(outcome); }

  PeerTable peers_;
  Lane lane_;
  HandWire wire_;
  ChunkCache cache_;
  alignas(64) std::byte memory_[4096];
  Block block_;
  const int factor_ = 10;
};

TEST_F(CoTest, BlockingNeverSuspends) {
  Op op(wire_, 0, 4, 1, block_, true);
  const Co co = two_rounds(op, factor_);
  ASSERT_TRUE(co.started());
  EXPECT_TRUE(co.done());
  EXPECT_TRUE(co.status().ok());
  EXPECT_EQ(wire_.sent, (std::vector<Rank>{10, 20}));
  EXPECT_EQ(wire_.waits, 2);
}

TEST_F(CoTest, NonblockingIsResumedByTheReadyListOnly) {
  Op op(wire_, 0, 4, 1, block_, false);
  const Co co = two_rounds(op, factor_);
  EXPECT_FALSE(co.done());
  arrive(0);
  EXPECT_EQ(wire_.sent.size(), 1u) << "whoever completes an operation is never inside the coroutine";
  run_ready();
  EXPECT_EQ(wire_.sent.size(), 2u);
  arrive(1);
  run_ready();
  EXPECT_FALSE(co.done()) << "one of two operations is outstanding";
  arrive(2);
  run_ready();
  EXPECT_TRUE(co.done());
  EXPECT_TRUE(co.status().ok());
}

TEST_F(CoTest, AnErrorEndsItAndSticks) {
  Op op(wire_, 0, 4, 1, block_, false);
  const Co co = two_rounds(op, factor_);
  arrive(0, Status::fail(MPI_ERR_TRUNCATE, "too much"));
  run_ready();
  ASSERT_TRUE(co.done());
  EXPECT_EQ(co.status().mpi_class(), MPI_ERR_TRUNCATE);
  EXPECT_STREQ(co.status().text(), "too much");
  Gate gate;
  op.send(5, nullptr, 0, gate);
  EXPECT_EQ(wire_.sent.size(), 1u) << "after a failure nothing is sent";
}

TEST_F(CoTest, AFailedPostGivesUpWhatItWaitsFor) {
  for (const bool blocking : {true, false}) {
    Op op(wire_, 0, 4, 1, block_, blocking);
    wire_.refused = 10;
    const Co co = two_rounds(op, factor_);
    run_ready();
    ASSERT_TRUE(co.done());
    EXPECT_STREQ(co.status().text(), "refused");
  }
}

TEST_F(CoTest, ChildrenAreJoinedThroughGates) {
  Op op(wire_, 0, 4, 1, block_, false);
  const Co co = parent(op, factor_);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(co.done());
    arrive(i);
    if (i != 1) run_ready();
  }
  EXPECT_TRUE(co.done());

  Op blocking(wire_, 0, 4, 1, block_, true);
  EXPECT_TRUE(parent(blocking, factor_).done());
}

TEST_F(CoTest, RunsAgainInTheSameBlock) {
  Op op(wire_, 0, 4, 1, block_, false);
  Promise* first = nullptr;
  for (int start = 0; start < 3; ++start) {
    block_.reset();
    wire_.gates.clear();
    const Co co = two_rounds(op, factor_);
    if (start == 0) first = &co.promise();
    EXPECT_EQ(&co.promise(), first) << "the frame lies where it lay before";
    for (std::size_t i = 0; i < 3; ++i) {
      arrive(i);
      if (i != 1) run_ready();
    }
    EXPECT_TRUE(co.done());
  }
  EXPECT_EQ(wire_.sent.size(), 6u);
}

TEST_F(CoTest, NoMemoryForTheFrameIsAFailureOfTheOperation) {
  ChunkCache none;
  std::byte little[16];
  Block block(little, sizeof little, none);
  ASSERT_NE(block.take(16), nullptr);
  Op op(wire_, 0, 4, 1, block, true);
  EXPECT_EQ(op.scratch(MPI_Count{1} << 62), nullptr);
  EXPECT_EQ(op.failure().mpi_class(), MPI_ERR_NO_MEM);
}

TEST_F(CoTest, AwaitsAConditionInMemory) {
  Op op(wire_, 0, 4, 1, block_, false);
  Counter counter;
  counter.holds = &Counter::look;
  const Co co = waits_for_condition(op, counter);
  EXPECT_FALSE(co.done());
  ASSERT_EQ(wire_.watched, &counter);
  EXPECT_EQ(counter.looks, 1);
  progress::make_ready(*counter.waiter);
  run_ready();
  EXPECT_TRUE(co.done());

  Op blocking(wire_, 0, 4, 1, block_, true);
  Counter another;
  another.holds = &Counter::look;
  EXPECT_TRUE(waits_for_condition(blocking, another).done());
  EXPECT_EQ(another.looks, 3);
}

}  // namespace
}  // namespace ashlar::coll
