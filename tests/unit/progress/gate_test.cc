#include "framework/progress/gate.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include "framework/progress/lane.h"
#include "framework/progress/peer.h"

namespace ashlar {
namespace {

struct Note : Waiter {
  int runs = 0;
};

TEST(Gate, QueuesItsWaiterAtZeroAndKeepsTheFirstFailure) {
  PeerTable peers({}, 1, 1);
  Lane lane(0, peers, progress::Config{});
  const LaneGuard guard(lane.lock);
  Note note;
  note.lane = &lane;
  note.run = [](Waiter& w) { ++static_cast<Note&>(w).runs; };
  Gate gate;
  EXPECT_TRUE(gate.open());
  gate.add();
  gate.add();
  gate.add();
  gate.on_open(note);
  gate.arrive(Status{});
  gate.arrive(Status::fail(MPI_ERR_TRUNCATE, "first"));
  EXPECT_FALSE(gate.open());
  gate.arrive(Status::fail(MPI_ERR_OTHER, "second"));
  EXPECT_TRUE(gate.open());
  EXPECT_EQ(note.runs, 0) << "only the progress loop runs a waiter";
  EXPECT_EQ(progress::poll(lane), 1u);
  EXPECT_EQ(note.runs, 1);
  EXPECT_EQ(gate.status().mpi_class(), MPI_ERR_TRUNCATE);
  EXPECT_STREQ(gate.status().text(), "first");
  EXPECT_EQ(progress::poll(lane), 0u);
  gate.reset();
  EXPECT_TRUE(gate.status().ok());
}

TEST(Gate, AWaiterMayWaitAgain) {
  PeerTable peers({}, 1, 1);
  Lane lane(0, peers, progress::Config{});
  const LaneGuard guard(lane.lock);
  struct Rounds : Waiter {
    Gate gate;
    int left = 3;
  } rounds;
  rounds.lane = &lane;
  rounds.run = [](Waiter& w) {
    auto& self = static_cast<Rounds&>(w);
    if (--self.left == 0) return;
    self.gate.add();
    self.gate.on_open(self);
    self.gate.arrive(Status{});
  };
  progress::make_ready(rounds);
  EXPECT_EQ(progress::poll(lane), 3u);
  EXPECT_EQ(rounds.left, 0);
}

TEST(Poller, IsLookedAtInEveryRoundAndMayLeave) {
  PeerTable peers({}, 1, 1);
  Lane lane(0, peers, progress::Config{});
  const LaneGuard guard(lane.lock);
  struct Flag : Poller {
    int looks = 0;
    bool set = false;
  } first, second;
  first.poll = second.poll = [](Poller& p) {
    auto& self = static_cast<Flag&>(p);
    ++self.looks;
    if (self.set) List<Poller>::remove(&self);
    return self.set;
  };
  lane.pollers.push_back(&first);
  lane.pollers.push_back(&second);
  EXPECT_EQ(progress::poll(lane), 0u);
  first.set = true;
  EXPECT_EQ(progress::poll(lane), 1u);
  EXPECT_EQ(progress::poll(lane), 0u);
  EXPECT_EQ(first.looks, 2);
  EXPECT_EQ(second.looks, 3);
}

}  // namespace
}  // namespace ashlar
