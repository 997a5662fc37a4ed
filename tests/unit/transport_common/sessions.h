#pragma once
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>

#include "tests/unit/transport_common/fixture.h"

// Who is who, messages that are missing, frames of strangers, over a network that needs no card: the same tests for
// every transport over a library. TypeParam is its Process.
namespace ashlar::network::test {

template <class Process>
class Sessions : public testing::Test {};
TYPED_TEST_SUITE_P(Sessions);

TYPED_TEST_P(Sessions, NothingIsSentBeforeTheProof) {
  TypeParam a(0), b(1);
  ASSERT_EQ(a.opened, ASHLAR_OK) << last_failure;
  Endpoint* const to = a.connect(1, b.address());
  ASSERT_NE(to, nullptr) << last_failure;
  ASSERT_EQ(Process::send(to, 5), ASHLAR_OK);
  for (int i = 0; i < 100; ++i) a.iface->progress();
  EXPECT_NE(to->way, Endpoint::Way::kOpen) << "b has made no progress";
  ASSERT_TRUE(run({&a, &b}, [&] { return !b.got.empty(); }));
  EXPECT_EQ(b.got[0], 5u);
  EXPECT_EQ(b.iface->counters.greeted, 1u);
}

TYPED_TEST_P(Sessions, WhoDoesNotKnowTheSecretIsNotHeard) {
  TypeParam a(0), b(1);
  Record record;
  const std::string good = b.address();
  ASSERT_EQ(parse(host(), 1, good.data(), static_cast<std::uint32_t>(good.size()), &record), ASHLAR_OK);
  record.secret[0] ^= 1;
  std::string guessed(1000, '\0');
  guessed.resize(write(record, guessed.data(), 1000));
  Endpoint* const to = a.connect(1, guessed);
  ASSERT_NE(to, nullptr) << last_failure;
  ASSERT_EQ(Process::send(to, 5), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.iface->counters.refused > 0; }));
  (void)run(
      {&a, &b}, [] { return false; }, 50);
  EXPECT_NE(to->way, Endpoint::Way::kOpen);
  EXPECT_TRUE(b.got.empty());
}

TYPED_TEST_P(Sessions, AWrongTokenIsDroppedAndAGapEndsThePeer) {
  TypeParam a(0), b(1);
  Endpoint* const to = a.connect(1, b.address());
  ASSERT_NE(to, nullptr);
  Endpoint* const back = b.connect(0, a.address());
  ASSERT_NE(back, nullptr);
  ASSERT_EQ(Process::send(to, 1), ASHLAR_OK);
  ASSERT_EQ(Process::send(back, 1), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return a.got.size() == 1 && b.got.size() == 1; }));
  const std::uint64_t token = to->keys.token, refused = b.iface->counters.refused;
  to->keys.token ^= 1;
  ASSERT_EQ(Process::send(to, 2), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.iface->counters.refused > refused; }));
  EXPECT_EQ(b.got.size(), 1u);
  EXPECT_TRUE(b.failures.empty());
  // That one is missing now.
  to->keys.token = token;
  ASSERT_EQ(Process::send(to, 3), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return !b.failures.empty(); }));
  EXPECT_EQ(b.failures[0].first, 0u);
  EXPECT_NE(b.failures[0].second.find("message 2 of it was lost"), std::string::npos) << b.failures[0].second;
  EXPECT_EQ(b.got.size(), 1u);
  // The peer is there, and would wait for ever.
  ASSERT_TRUE(run({&a, &b}, [&] { return !a.failures.empty(); }));
  EXPECT_NE(a.failures[0].second.find("it has given this process up"), std::string::npos) << a.failures[0].second;
}

TYPED_TEST_P(Sessions, TwoNetworksDoNotMeet) {
  TypeParam a(0), b(1);
  Record record;
  const std::string good = b.address();
  ASSERT_EQ(parse(host(), 1, good.data(), static_cast<std::uint32_t>(good.size()), &record), ASHLAR_OK);
  const std::string own = record.name;
  record.name = "another";
  std::string other(1000, '\0');
  other.resize(write(record, other.data(), 1000));
  EXPECT_EQ(a.connect(1, other), nullptr);
  EXPECT_NE(last_failure.find("theirs=another own=" + own), std::string::npos) << last_failure;
}

// A frame that names no session is of none, also when the last session's sender was not looked up since.
TYPED_TEST_P(Sessions, AFrameWithoutASessionIsDropped) {
  TypeParam a(0), b(1), c(2);
  Endpoint* const to = a.connect(1, b.address());
  ASSERT_NE(to, nullptr);
  ASSERT_EQ(Process::send(to, 1), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.got.size() == 1; }));
  Endpoint* const other = c.connect(1, b.address());
  ASSERT_NE(other, nullptr);
  ASSERT_TRUE(run({&a, &b, &c}, [&] { return other->way == Endpoint::Way::kOpen; }));
  const std::uint64_t refused = b.iface->counters.refused;
  const std::uint64_t token = std::exchange(to->keys.token, 0);
  ASSERT_EQ(Process::send(to, 2), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.iface->counters.refused > refused; }));
  EXPECT_EQ(b.got.size(), 1u);
  to->keys.token = token;
}

TYPED_TEST_P(Sessions, WhatWasTakenArrivesThoughItsSenderDisconnects) {
  TypeParam a(0), b(1);
  const auto arrives = [&](std::uint64_t count) { return run({&a, &b}, [&] { return b.got.size() == count; }); };
  Endpoint* to = a.connect(1, b.address());
  ASSERT_NE(to, nullptr) << last_failure;
  ASSERT_EQ(Process::send(to, 1), ASHLAR_OK);
  a.iface->disconnect(*to);
  ASSERT_TRUE(arrives(1)) << "it had no session";
  ASSERT_TRUE(run({&a, &b}, [&] { return to->way == Endpoint::Way::kDown; }));
  // Another session; many messages wait here for a round of progress.
  ASSERT_EQ(a.connect(1, b.address()), to);
  for (std::uint64_t i = 2; i <= 40; ++i) ASSERT_EQ(Process::send(to, i), ASHLAR_OK);
  a.iface->disconnect(*to);
  ASSERT_TRUE(arrives(40));
  EXPECT_EQ(b.iface->counters.greeted, 2u);
  ASSERT_EQ(a.connect(1, b.address()), to);
  ASSERT_EQ(Process::send(to, 41), ASHLAR_OK);
  ASSERT_TRUE(arrives(41));
  for (std::uint64_t i = 0; i < 41; ++i) EXPECT_EQ(b.got[i], i + 1);
  // It connects again before the leave has left.
  Endpoint* const back = b.connect(0, a.address());
  ASSERT_NE(back, nullptr);
  for (std::uint64_t i = 0; i < 40; ++i) ASSERT_EQ(Process::send(to, 42 + i), ASHLAR_OK);
  a.iface->disconnect(*to);
  EXPECT_EQ(to->way, Endpoint::Way::kOpen);
  ASSERT_EQ(a.connect(1, b.address()), to);
  ASSERT_TRUE(arrives(81));
  (void)run(
      {&a, &b}, [] { return false; }, 50);
  EXPECT_EQ(to->way, Endpoint::Way::kOpen);
  EXPECT_FALSE(back->left);
  EXPECT_TRUE(a.failures.empty() && b.failures.empty());
}

// A server would keep all clients that it has ever had.
TYPED_TEST_P(Sessions, WhomTheKernelHasPartedFromIsForgotten) {
  TypeParam a(0), b(1);
  const auto known = [](const Process& process) { return process.iface->counters.peers.now.get(); };
  for (int round = 0; round < 3; ++round) {
    a.unknown.clear();
    b.unknown.clear();
    Endpoint* const to = a.connect(1, b.address());
    ASSERT_NE(to, nullptr) << last_failure;
    Endpoint* const back = b.connect(0, a.address());
    ASSERT_NE(back, nullptr) << last_failure;
    ASSERT_EQ(Process::send(to, 1), ASHLAR_OK);
    ASSERT_EQ(Process::send(back, 2), ASHLAR_OK);
    const auto both = [&] { return a.got.size() > unsigned(round) && b.got.size() > unsigned(round); };
    ASSERT_TRUE(run({&a, &b}, both)) << round;
    a.part_from(1);
    (void)run(
        {&a, &b}, [] { return false; }, 50);
    EXPECT_EQ(known(a), 1u) << "b has a session to a";
    EXPECT_EQ(known(b), 1u);
    b.part_from(0);
    ASSERT_TRUE(run({&a, &b}, [&] { return known(a) == 0 && known(b) == 0; })) << known(a) << " " << known(b);
  }
  EXPECT_EQ(a.iface->counters.peers.most.get(), 1u);
  EXPECT_TRUE(a.failures.empty() && b.failures.empty());
}

// It may go on in a session whose end waits to be sent.
TYPED_TEST_P(Sessions, WhoIsKnownAgainIsNotForgotten) {
  {
    TypeParam a(0), b(1);
    Endpoint* const to = a.connect(1, b.address());
    ASSERT_NE(to, nullptr) << last_failure;
    ASSERT_EQ(Process::send(to, 1), ASHLAR_OK);
    ASSERT_TRUE(run({&a, &b}, [&] { return b.got.size() == 1; }));
    b.part_from(0);
    b.unknown.clear();
    a.iface->disconnect(*to);
    (void)run(
        {&a, &b}, [] { return false; }, 50);
    EXPECT_EQ(b.iface->counters.peers.now.get(), 1u) << "it sends nothing, but may";
    b.unknown.insert(0);
    EXPECT_TRUE(run({&a, &b}, [&] { return b.iface->counters.peers.now.get() == 0; }));
  }
  TypeParam a(0), b(1);
  Endpoint* const to = a.connect(1, b.address());
  ASSERT_NE(to, nullptr) << last_failure;
  ASSERT_EQ(Process::send(to, 1), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.got.size() == 1; }));
  b.part_from(0);
  b.unknown.clear();
  for (std::uint64_t i = 2; i <= 40; ++i) ASSERT_EQ(Process::send(to, i), ASHLAR_OK);
  a.iface->disconnect(*to);
  ASSERT_EQ(to->way, Endpoint::Way::kOpen) << "messages have left at once";
  ASSERT_EQ(a.connect(1, b.address()), to);
  ASSERT_EQ(Process::send(to, 41), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.got.size() == 41; }));
  EXPECT_EQ(b.iface->counters.greeted, 1u);
  EXPECT_EQ(b.iface->counters.peers.now.get(), 1u);
}

// Were the way closed at once, the other side would meet its end when it parts.
TYPED_TEST_P(Sessions, WhoHasNotTalkedYetIsKeptForATime) {
  TypeParam a(0), b(1);
  Endpoint* const to = a.connect(1, b.address());
  ASSERT_NE(to, nullptr) << last_failure;
  ASSERT_EQ(Process::send(to, 1), ASHLAR_OK);
  ASSERT_TRUE(run({&a, &b}, [&] { return b.got.size() == 1; }));
  a.part_from(1);
  (void)run(
      {&a, &b}, [] { return false; }, 200);
  EXPECT_EQ(a.iface->counters.peers.now.get(), 1u);
  EXPECT_TRUE(run({&a, &b}, [&] { return a.iface->counters.peers.now.get() == 0; }));
}

TYPED_TEST_P(Sessions, WhoHasEndedIsForgotten) {
  TypeParam a(0);
  auto b = std::make_unique<TypeParam>(1);
  Endpoint* const to = a.connect(1, b->address());
  ASSERT_NE(to, nullptr) << last_failure;
  ASSERT_EQ(Process::send(to, 1), ASHLAR_OK);
  ASSERT_TRUE(run({&a, b.get()}, [&] { return b->got.size() == 1; }));
  b.reset();
  a.iface->process_ended(*to, "the test has ended it");
  EXPECT_EQ(a.failures.size(), 1u);
  a.part_from(1);
  EXPECT_TRUE(run({&a}, [&] { return a.iface->counters.peers.now.get() == 0; }));
}

// A process that sleeps looks at the clock less often than it would ask each peer.
TYPED_TEST_P(Sessions, PeersAreAskedInTurn) {
  TypeParam a(0);
  std::vector<std::unique_ptr<TypeParam>> others;
  std::vector<Endpoint*> peers;
  for (std::uint32_t rank = 1; rank <= 6; ++rank) {
    others.push_back(std::make_unique<TypeParam>(rank));
    peers.push_back(a.connect(rank, others.back()->address()));
    ASSERT_NE(peers.back(), nullptr) << last_failure;
    if (peers.back()->alive.family == 0) GTEST_SKIP() << "its network has no addresses of IP";
    ASSERT_EQ(Process::send(peers.back(), 1), ASHLAR_OK);
    ASSERT_TRUE(run({&a, others.back().get()}, [&] { return others.back()->got.size() == 1; }));
  }
  std::vector<std::uint64_t> before;
  for (const Endpoint* peer : peers) before.push_back(peer->asked_at);
  for (int i = 0; i < 12; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    a.iface->progress();
  }
  for (std::size_t i = 0; i < peers.size(); ++i) EXPECT_GT(peers[i]->asked_at, before[i]) << i;
}

inline struct sigaction action_of(int signal) {
  struct sigaction action = {};
  (void)sigaction(signal, nullptr, &action);
  return action;
}

inline constexpr int kSignals[] = {SIGINT, SIGILL, SIGABRT, SIGBUS, SIGSEGV, SIGTERM, SIGHUP, SIGFPE};
// As they were before any test loaded a library.
inline const std::vector<struct sigaction> signals_before = [] {
  std::vector<struct sigaction> actions;
  for (const int signal : kSignals) actions.push_back(action_of(signal));
  return actions;
}();

TYPED_TEST_P(Sessions, SignalsAreLeftAlone) {
  const TypeParam a(0);
  ASSERT_EQ(a.opened, ASHLAR_OK) << last_failure;
  for (std::size_t i = 0; i < signals_before.size(); ++i)
    EXPECT_EQ(action_of(kSignals[i]).sa_handler, signals_before[i].sa_handler) << strsignal(kSignals[i]);
}

REGISTER_TYPED_TEST_SUITE_P(Sessions, NothingIsSentBeforeTheProof, WhoDoesNotKnowTheSecretIsNotHeard,
                            AWrongTokenIsDroppedAndAGapEndsThePeer, TwoNetworksDoNotMeet,
                            AFrameWithoutASessionIsDropped, WhatWasTakenArrivesThoughItsSenderDisconnects,
                            WhomTheKernelHasPartedFromIsForgotten, WhoIsKnownAgainIsNotForgotten,
                            WhoHasNotTalkedYetIsKeptForATime, WhoHasEndedIsForgotten, PeersAreAskedInTurn,
                            SignalsAreLeftAlone);

}  // namespace ashlar::network::test
