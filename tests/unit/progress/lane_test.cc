#include "framework/progress/lane.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/progress/events.h"
#include "framework/progress/peer.h"
#include "framework/progress/waiting.h"
#include "tests/unit/progress/fake_iface.h"

namespace ashlar {
namespace {

struct Item : Pending {
  int number = 0;
  int refusals = 0;  // times it gets AGAIN
  int pieces = 1;
  std::vector<int>* log = nullptr;
};

ashlar_result push(Pending& work, Link&) {
  auto& item = static_cast<Item&>(work);
  if (item.refusals > 0) {
    --item.refusals;
    return ASHLAR_AGAIN;
  }
  item.log->push_back(item.number);
  return --item.pieces > 0 ? ASHLAR_PENDING : ASHLAR_OK;
}

void abandon(Pending& work, Link&) { static_cast<Item&>(work).log->push_back(-static_cast<Item&>(work).number); }

class Retry : public testing::Test {
 protected:
  Retry() {
    lane.lock.lock();
    link = progress::link_of(lane, 1);
  }
  ~Retry() { lane.lock.unlock(); }
  Item& make(int number, int refusals, int pieces = 1) {
    Item& item = items[static_cast<std::size_t>(number)];
    item.number = number;
    item.refusals = refusals;
    item.pieces = pieces;
    item.log = &log;
    item.push = push;
    item.abandon = abandon;
    return item;
  }
  PeerTable peers{{}, 4, 1};
  Lane lane{0, peers, progress::Config{}};
  Link* link;
  std::vector<int> log;
  Item items[20];
};

TEST_F(Retry, KeepsTheOrderOfALinkWhateverIsRefused) ASHLAR_NO_THREAD_SAFETY {
  for (int i = 1; i <= 5; ++i) progress::enqueue(lane, *link, make(i, 5 - i));
  EXPECT_TRUE(link->stalled());
  for (int round = 0; round < 40 && link->stalled(); ++round) progress::poll(lane);
  EXPECT_EQ(log, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_FALSE(link->stalled());
  EXPECT_TRUE(lane.stalled.empty());
}

TEST_F(Retry, CountsRoundsOfALinkWithoutRoom) ASHLAR_NO_THREAD_SAFETY {
  progress::enqueue(lane, *link, make(1, 3));
  while (link->stalled()) progress::poll(lane);
  EXPECT_EQ(lane.counters.retries, 4u);
}

std::vector<event::Record> heard;

TEST_F(Retry, AFailedPeerIsCountedAndTold) ASHLAR_NO_THREAD_SAFETY {
  heard.clear();
  event::listen([](const event::Record& record, event::Safety) noexcept { heard.push_back(record); });
  progress::peer_failed.listeners = 1;
  peers.mark_failed(3, "it was killed");
  progress::poll(lane);
  EXPECT_TRUE(heard.empty()) << "under the lock of a lane";
  lane.lock.unlock();
  event::deliver();
  lane.lock.lock();
  progress::peer_failed.listeners = 0;
  EXPECT_EQ(lane.counters.peers_failed, 1u);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].type, &progress::peer_failed);
  EXPECT_EQ(heard[0].values[0], 3u);
  EXPECT_EQ(heard[0].values[1], 0u);
  progress::poll(lane);
  EXPECT_EQ(lane.counters.peers_failed, 1u);
}

/// An interface that hears of the ends of processes.
struct HearingIface : ashlar_iface {
  HearingIface() {
    functions.size = sizeof functions;
    functions.ended = [](ashlar_iface* self, ashlar_endpoint* endpoint, const char* how) {
      static_cast<HearingIface*>(self)->ends.emplace_back(endpoint, how);
    };
    ops = &functions;
  }
  ashlar_iface_ops functions{};
  std::vector<std::pair<ashlar_endpoint*, std::string>> ends;
};

TEST_F(Retry, TheTransportOfAFailedPeerIsTold) ASHLAR_NO_THREAD_SAFETY {
  HearingIface iface;
  ashlar_endpoint endpoint{};
  link->iface = &iface;
  link->endpoint = &endpoint;
  peers.mark_failed(2, "killed by signal 9");  // nothing was ever sent to it
  progress::poll(lane);
  EXPECT_TRUE(iface.ends.empty());
  peers.mark_failed(1, "ended with exit code 7");
  progress::poll(lane);
  progress::poll(lane);
  ASSERT_EQ(iface.ends.size(), 1u);
  EXPECT_EQ(iface.ends[0].first, &endpoint);
  EXPECT_EQ(iface.ends[0].second, "ended with exit code 7");
  link->endpoint = nullptr;
}

TEST_F(Retry, BulkWorkTakesTurnsAndLetsMessagesPass) ASHLAR_NO_THREAD_SAFETY {
  progress::enqueue(lane, *link, make(1, 0, 3), true);
  progress::enqueue(lane, *link, make(2, 0, 2), true);
  progress::enqueue(lane, *link, make(3, 0));
  while (link->stalled()) progress::poll(lane);
  EXPECT_EQ(log, (std::vector<int>{3, 1, 2, 1, 2, 1}));
}

TEST_F(Retry, OneLinkWithoutRoomDoesNotHoldUpAnother) ASHLAR_NO_THREAD_SAFETY {
  Link* const other = progress::link_of(lane, 2);
  progress::enqueue(lane, *link, make(1, 3));
  progress::enqueue(lane, *other, make(2, 0));
  progress::poll(lane);
  EXPECT_EQ(log, (std::vector<int>{2}));
  EXPECT_FALSE(other->stalled());
  while (link->stalled()) progress::poll(lane);
  EXPECT_EQ(log, (std::vector<int>{2, 1}));
}

TEST_F(Retry, AFailedPeerEndsWhatWaits) ASHLAR_NO_THREAD_SAFETY {
  static std::vector<PeerId> failed;
  failed.clear();
  lane.peer_failed = [](Lane&, PeerId peer) { failed.push_back(peer); };
  progress::enqueue(lane, *link, make(1, 1000));
  progress::enqueue(lane, *link, make(2, 0), true);
  progress::poll(lane);
  progress::failed(&lane, 1, "for the test");
  progress::failed(&lane, 1, "again");
  progress::poll(lane);
  progress::poll(lane);
  EXPECT_EQ(log, (std::vector<int>{-1, -2}));
  EXPECT_EQ(failed, (std::vector<PeerId>{1}));
  EXPECT_EQ(peers.failure_reason(1), "for the test");
  Link* out = nullptr;
  const Status connected = progress::connect(lane, *peers.get(1), &out);
  EXPECT_EQ(connected.mpi_class(), MPI_ERR_PROC_ABORTED);
  EXPECT_STREQ(connected.text(), "process 1 is gone. Its transport says: for the test");
}

// Room raises no wake-up: a sleeper is woken when work is left behind for it.
TEST_F(Retry, WhatHasToWaitForRoomWakesWhoSleeps) ASHLAR_NO_THREAD_SAFETY {
  const std::uint32_t before = lane.wake_word;
  progress::enqueue(lane, *link, make(1, 2));
  EXPECT_EQ(lane.wake_word, before) << "no thread sleeps";
  while (link->stalled()) progress::poll(lane);
  lane.armed = 1;
  progress::enqueue(lane, *link, make(2, 1));
  EXPECT_NE(lane.wake_word, before);
  const std::uint32_t once = lane.wake_word;
  progress::enqueue(lane, *link, make(3, 1));
  EXPECT_EQ(lane.wake_word, once) << "it knows already";
  while (link->stalled()) progress::poll(lane);
}

TEST(Lane, LeavesTheLoopbackAloneUntilSomethingIsQueued) ASHLAR_NO_THREAD_SAFETY {
  PeerTable peers({}, 1, 1);
  Lane lane(0, peers, progress::Config{});
  test::FakeIface self(false), network(false);
  lane.add_iface(&self, true);
  lane.add_iface(&network, false);
  progress::poll(lane);
  EXPECT_EQ(self.calls, 0u);
  EXPECT_EQ(network.calls, 1u);
  lane.self_busy = true;
  progress::poll(lane);
  EXPECT_EQ(self.calls, 1u);
  EXPECT_FALSE(lane.self_busy);
}

// A look at a network costs a system call; neighbours are answered between two of them.
TEST(Lane, SpinsMoreOnMemoryThanOnNetworks) ASHLAR_NO_THREAD_SAFETY {
  PeerTable peers({}, 1, 1);
  Lane lane(0, peers, progress::Config{});
  test::FakeIface network(true), memory(false);
  lane.add_iface(&network, false, "network");
  lane.add_iface(&memory, false, "memory");
  EXPECT_STREQ(lane.iface_names[0], "memory");
  EXPECT_STREQ(lane.iface_names[1], "network");
  const auto looks_in = [&](unsigned rounds) ASHLAR_NO_THREAD_SAFETY {
    const unsigned before = network.calls, memory_before = memory.calls;
    for (unsigned round = 0; round < rounds; ++round) progress::poll_in_wait(lane);
    EXPECT_EQ(memory.calls - memory_before, rounds);
    return network.calls - before;
  };
  EXPECT_EQ(looks_in(64), 32u);
  EXPECT_EQ(looks_in(64), 32u);
  EXPECT_EQ(looks_in(320), 10u) << "nothing has come from there for long";
  network.arrive();
  EXPECT_EQ(looks_in(32), 1u);
  EXPECT_EQ(network.seen, 1u);
  EXPECT_EQ(looks_in(64), 32u) << "more may follow";
  const unsigned before = network.calls;
  progress::poll(lane);
  EXPECT_EQ(network.calls, before + 1) << "a call that looks once looks at all";
}

TEST(Lane, ShortWaitsLookAtNetworksToo) ASHLAR_NO_THREAD_SAFETY {
  PeerTable peers({}, 1, 1);
  Lane lane(0, peers, progress::Config{});
  test::FakeIface network(true), memory(false);
  lane.add_iface(&network, false);
  lane.add_iface(&memory, false);
  lane.lock.lock();
  for (int i = 0; i < 6400; ++i) {
    bool done = false;
    progress::wait(lane, [&] { return std::exchange(done, true); });
  }
  lane.lock.unlock();
  EXPECT_GE(network.calls, 200u);
}

TEST(Lane, LooksAtItsOnlyNetworkInEachRound) ASHLAR_NO_THREAD_SAFETY {
  PeerTable peers({}, 1, 1);
  Lane lane(0, peers, progress::Config{});
  test::FakeIface network(true);
  lane.add_iface(&network, false);
  EXPECT_FALSE(lane.near_and_far);
  test::FakeIface memory(false);
  lane.add_iface(&memory, false);
  EXPECT_TRUE(lane.near_and_far);
}

TEST(PeerTable, MakesOneRecordForEachProcess) {
  PeerTable peers({}, 3, 2);
  EXPECT_EQ(peers.find(2), nullptr);
  Peer* const peer = peers.get(2);
  ASSERT_NE(peer, nullptr);
  EXPECT_EQ(peers.get(2), peer);
  EXPECT_EQ(peers.find(2), peer);
  EXPECT_EQ(peers.get(3), nullptr) << "no such process";
  Lane first(0, peers, progress::Config{}), second(1, peers, progress::Config{});
  EXPECT_NE(&peer->link(first), &peer->link(second));
}

}  // namespace
}  // namespace ashlar
