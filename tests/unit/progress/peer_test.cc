#include "framework/progress/peer.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

constexpr Identity kSelf{{7, 8}, 1};
constexpr Identity kOther{{7, 9}, 1};  // of another job

TEST(PeerTable, RanksOfTheJobAreTheirOwnNumbers) {
  PeerTable peers(kSelf, 4, 2);
  EXPECT_EQ(peers.number_of({{7, 8}, 3}), 3u);
  EXPECT_EQ(peers.number_of({{7, 8}, 4}), kNobody);
  EXPECT_EQ(peers.add({{7, 8}, 2}), 2u);
  EXPECT_EQ(peers.identity_of(3), (Identity{{7, 8}, 3}));
  EXPECT_FALSE(peers.is_of_other_job(3));
  EXPECT_FALSE(peers.knows_others());
}

TEST(PeerTable, AProcessOfAnotherJobIsKnownUntilItIsForgotten) {
  PeerTable peers(kSelf, 4, 2);
  EXPECT_EQ(peers.number_of(kOther), kNobody);
  const PeerId number = peers.add(kOther);
  EXPECT_EQ(number, 4u);
  EXPECT_EQ(peers.add(kOther), number);
  EXPECT_EQ(peers.number_of(kOther), number);
  EXPECT_EQ(peers.identity_of(number), kOther);
  EXPECT_TRUE(peers.is_of_other_job(number) && peers.knows_others());
  EXPECT_EQ(peers.find(number), nullptr);  // nothing was sent to it
  Peer* const peer = peers.get(number);
  ASSERT_NE(peer, nullptr);
  EXPECT_EQ(peers.find(number), peer);
  EXPECT_EQ(peer->id, number);
  EXPECT_TRUE(peers.forget(number));
  EXPECT_EQ(peers.find(number), nullptr);
  EXPECT_EQ(peers.get(number), nullptr);
  EXPECT_EQ(peers.number_of(kOther), kNobody);
  EXPECT_FALSE(peers.knows_others());
}

TEST(PeerTable, ANumberIsNotUsedTwice) {
  PeerTable peers(kSelf, 2, 1);
  const PeerId first = peers.add(kOther);
  EXPECT_TRUE(peers.forget(first));
  EXPECT_EQ(peers.add(kOther), first + 1);
}

TEST(PeerTable, WhatIsHeldIsNotForgotten) {
  PeerTable peers(kSelf, 2, 1);
  const PeerId number = peers.add(kOther);
  EXPECT_EQ(peers.hold(number), 1u);
  EXPECT_EQ(peers.hold(number), 2u);
  EXPECT_EQ(peers.held(), std::vector<PeerId>{number});
  EXPECT_TRUE(peers.is_held(number));
  EXPECT_FALSE(peers.forget(number));
  EXPECT_EQ(peers.let_go(number), 1u);
  EXPECT_EQ(peers.let_go(number), 0u);
  EXPECT_EQ(peers.let_go(number), 0u);
  EXPECT_TRUE(peers.held().empty());
  EXPECT_FALSE(peers.is_held(number));
  EXPECT_TRUE(peers.forget(number));
  EXPECT_FALSE(peers.is_held(number));
}

TEST(PeerTable, EachVisitsProcessesOfAllJobs) {
  PeerTable peers(kSelf, 2, 1);
  const PeerId number = peers.add(kOther);
  ASSERT_NE(peers.get(0), nullptr);
  ASSERT_NE(peers.get(number), nullptr);
  std::vector<PeerId> seen;
  peers.each([&](Peer& peer) { seen.push_back(peer.id); });
  EXPECT_EQ(seen, (std::vector<PeerId>{0, number}));
}

// It has needed nothing of this process since then, so its end is no failure here; until a new communicator has it.
TEST(PeerTable, AProcessThatHasTakenItsLeaveDoesNotFail) {
  PeerTable peers(kSelf, 2, 1);
  const PeerId number = peers.add(kOther);
  peers.get(number)->said_goodbye.store(true);
  peers.mark_failed(number, "it has ended");
  EXPECT_EQ(peers.failures(), 0u);
  EXPECT_EQ(peers.add(kOther), number);
  peers.mark_failed(number, "it has ended");
  EXPECT_EQ(peers.failures(), 1u);
  EXPECT_EQ(peers.failure_reason(number), "it has ended");
}

}  // namespace
}  // namespace ashlar
