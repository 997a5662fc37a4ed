// Connections between processes: made once however they begin, closed and made again, always in order.
#include <sys/resource.h>

#include <map>

#include "framework/base/clock.h"
#include "tests/unit/transport_tcp/fixture.h"
#include "tests/unit/transport_tcp/wire.h"

namespace ashlar::tcp::test {
namespace {

bool in_order(const Process& process) {
  std::map<std::uint32_t, std::uint64_t> next;
  for (const auto& [peer, number] : process.got)
    if (number != next[peer]++) return false;
  return true;
}

TEST(Connections, BothDialAndOneIsKept) {
  for (int round = 0; round < 50; ++round) {
    Process a(0), b(1);
    ashlar_endpoint* const to_b = a.connect(1, b);
    for (int i = 0; i < round % 7; ++i) (round % 2 != 0 ? a : b).iface->progress();
    ashlar_endpoint* const to_a = b.connect(0, a);
    ASSERT_TRUE(to_a != nullptr && to_b != nullptr) << last_failure;
    a.send(to_b, 0);
    b.send(to_a, 0);
    ASSERT_TRUE(progress_until({&a, &b}, [&] { return a.got.size() == 1 && b.got.size() == 1; })) << round;
    progress_for({&a, &b}, 5);
    EXPECT_EQ(a.iface->counters.connections.now.get(), 1u);
    EXPECT_EQ(b.iface->counters.connections.now.get(), 1u);
    EXPECT_EQ(a.iface->counters.strangers.now.get() + b.iface->counters.strangers.now.get(), 0u);
    EXPECT_TRUE(a.failures.empty() && b.failures.empty());
  }
}

// Five peers, room for two connections: each comes back on use, and no message is lost or overtakes another.
TEST(Connections, ABoundIsKeptAndNothingIsLost) {
  Config few = usual();
  few.connections = 2;
  Process hub(0, few);
  std::vector<std::unique_ptr<Process>> peers;
  std::vector<Process*> all = {&hub};
  std::vector<ashlar_endpoint*> out, back;
  for (std::uint32_t i = 1; i <= 5; ++i) {
    peers.push_back(std::make_unique<Process>(i));
    all.push_back(peers.back().get());
    out.push_back(hub.connect(i, *peers.back()));
    back.push_back(peers.back()->connect(0, hub));
    ASSERT_TRUE(out.back() != nullptr && back.back() != nullptr) << last_failure;
  }
  const std::uint64_t rounds = 40;
  for (std::uint64_t n = 0; n < rounds; ++n) {
    for (std::size_t i = 0; i < peers.size(); ++i) {
      hub.send(out[i], n);
      if ((n + i) % 3 == 0) progress_for(all, 1);
      peers[i]->send(back[i], n);
      if ((n + i) % 4 == 0) progress_for(all, 1);
    }
  }
  ASSERT_TRUE(progress_until(all, [&] {
    bool there = hub.got.size() == rounds * peers.size();
    for (const auto& peer : peers) there = there && peer->got.size() == rounds;
    return there;
  })) << hub.got.size();
  EXPECT_TRUE(in_order(hub));
  for (const auto& peer : peers) EXPECT_TRUE(in_order(*peer));
  EXPECT_GT(hub.iface->counters.closed_idle.get(), 5u);
  EXPECT_TRUE(progress_until(all, [&] { return hub.iface->counters.connections.now.get() <= 3; }));
  EXPECT_TRUE(hub.failures.empty());
}

// A process of many lanes would run out of them, were each to take its three quarters.
TEST(Connections, LanesShareTheDescriptors) {
  rlimit files = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit few = {.rlim_cur = 1000, .rlim_max = files.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  Process one(0, usual(), "job", 1), hub(0, usual(), "job", 100);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  std::vector<std::unique_ptr<Process>> peers;
  std::vector<Process*> all = {&one, &hub};
  for (std::uint32_t i = 1; i <= 10; ++i) {
    peers.push_back(std::make_unique<Process>(i));
    all.push_back(peers.back().get());
    for (Process* from : {&one, &hub}) {
      ashlar_endpoint* const to = from->connect(i, *peers.back());
      ASSERT_NE(to, nullptr) << last_failure;
      from->send(to, 0);
    }
    ASSERT_TRUE(progress_until(all, [&] { return peers.back()->got.size() == 2; })) << i;
  }
  EXPECT_EQ(one.iface->counters.connections.now.get(), 10u);
  EXPECT_TRUE(progress_until(all, [&] { return hub.iface->counters.connections.now.get() == 8; }));
  EXPECT_GE(hub.iface->counters.closed_idle.get(), 2u);
}

TEST(Connections, WhatWasTakenArrivesThoughItsSenderDisconnects) {
  Process a(0), b(1);
  const auto disconnect = [&a](ashlar_endpoint* to) { a.iface->disconnect(*static_cast<Endpoint*>(to)); };
  ashlar_endpoint* to_b = a.connect(1, b);
  ASSERT_NE(to_b, nullptr) << last_failure;
  for (std::uint64_t i = 0; i < 20; ++i) a.send(to_b, i);
  EXPECT_EQ(static_cast<Endpoint*>(to_b)->connection, nullptr);
  disconnect(to_b);
  ASSERT_TRUE(progress_until({&a, &b}, [&] { return b.got.size() == 20; })) << b.got.size();
  EXPECT_TRUE(progress_until({&a, &b}, [&] { return a.iface->counters.connections.now.get() == 0; }));
  EXPECT_TRUE(progress_until({&a, &b}, [&] { return a.iface->idle(); }));
  // It connects again before the connection is there: that one stays.
  to_b = a.connect(1, b);
  a.send(to_b, 20);
  disconnect(to_b);
  to_b = a.connect(1, b);
  a.send(to_b, 21);
  ASSERT_TRUE(progress_until({&a, &b}, [&] { return b.got.size() == 22; }));
  progress_for({&a, &b}, 5);
  EXPECT_EQ(a.iface->counters.connections.now.get(), 1u);
  EXPECT_TRUE(in_order(b));
  EXPECT_TRUE(a.failures.empty() && b.failures.empty());
}

TEST(Connections, SmallMessagesLeaveTogether) {
  Process a(0), b(1);
  ashlar_endpoint* const to_b = a.connect(1, b);
  ASSERT_NE(to_b, nullptr) << last_failure;
  a.send(to_b, 0);
  ASSERT_TRUE(progress_until({&a, &b}, [&] { return b.got.size() == 1; }));
  const std::uint64_t writes = a.iface->counters.writes.get();
  for (std::uint64_t i = 1; i <= 1000; ++i) a.send(to_b, i);
  ASSERT_TRUE(progress_until({&a, &b}, [&] { return b.got.size() == 1001; }));
  EXPECT_TRUE(in_order(b));
  EXPECT_LT(a.iface->counters.writes.get() - writes, 20u);
  EXPECT_EQ(a.iface->counters.coalesced.get(), 1000 - usual().coalesce_after);
}

TEST(Connections, MemoryThatIsTakenBackIsNotSent) {
  Process a(0), b(1);
  ashlar_endpoint* const to_b = a.connect(1, b);
  ashlar_endpoint* const to_a = b.connect(0, a);
  ASSERT_TRUE(to_a != nullptr && to_b != nullptr);
  Outcome done;
  auto memory = std::make_unique<std::vector<char>>(32 << 20, 'm');
  std::vector<char> target(memory->size());
  const ashlar_key key = a.expose(*memory);
  ASSERT_EQ(to_a->ops->get(to_a, target.data(), &key, 0, target.size(), &done), ASHLAR_PENDING);
  // In the middle of it, when the sockets are full.
  ASSERT_TRUE(progress_until({&a, &b}, [&] { return b.iface->counters.get_bytes.get() > 0; }));
  for (int i = 0; i < 20; ++i) a.iface->progress();
  ASSERT_EQ(done.calls, 0) << "the message is too short for this test";
  a.iface->unexpose(key);
  memory.reset();
  ASSERT_TRUE(progress_until({&a, &b}, [&] { return done.calls == 1; }));
  EXPECT_LT(done.result, 0);
  b.send(to_a, 0);
  EXPECT_TRUE(progress_until({&a, &b}, [&] { return a.got.size() == 1; })) << "the connection is as good as before";
}

// A read of a message's bytes ends soon behind the head of their frame: what comes next goes into its memory.
TEST(Connections, BytesOfAReadComeStraightIntoItsMemory) {
  Process a(0), b(1);
  ashlar_endpoint* const to_a = b.connect(0, a);
  ASSERT_NE(to_a, nullptr) << last_failure;
  std::vector<char> memory(8 << 20), target(memory.size());
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(i * 7 + i / 251);
  const ashlar_key key = a.expose(memory);
  Outcome done;
  ASSERT_EQ(to_a->ops->get(to_a, target.data(), &key, 0, target.size(), &done), ASHLAR_PENDING);
  ASSERT_TRUE(progress_until({&a, &b}, [&] { return done.calls == 1; }));
  EXPECT_EQ(done.result, ASHLAR_OK);
  EXPECT_TRUE(memory == target);
  const std::uint64_t frames = memory.size() / usual().get_chunk;
  EXPECT_LE(b.iface->counters.copied_bytes.get(), frames * (4 << 10));
}

// A long read that comes bit by bit: a look for every bit would keep the sender's system from sending more.
TEST(Connections, ReadsThatBringLittleAreApart) {
  Process a(0), b(1);
  Wire wire(a);
  ashlar_endpoint* const to_a = b.connect(0, wire.record(a));
  ASSERT_NE(to_a, nullptr) << last_failure;
  const std::vector<char> memory(1 << 20, 'm');
  std::vector<char> target(memory.size());
  const ashlar_key key = a.expose(memory);
  Outcome done;
  ASSERT_EQ(to_a->ops->get(to_a, target.data(), &key, 0, target.size(), &done), ASHLAR_PENDING);
  const Counters& of_b = b.iface->counters;
  const auto came = [&] { return of_b.get_bytes.get(); };
  ASSERT_TRUE(pass_until(wire, {&a, &b}, [&] { return came() != 0; }));
  wire.most = 8 << 10;
  progress_for({&a}, 1);  // what is under way to b is all there
  (void)b.iface->progress();
  int seen = 0;
  for (std::uint64_t before = came(), at = 0; came() < memory.size() / 2;) {
    wire.move();
    (void)a.iface->progress();
    const std::uint64_t looks = of_b.looks.get();
    (void)b.iface->progress();
    if (of_b.looks.get() == looks) continue;
    if (at != 0) {
      EXPECT_GE(now_ns() - at, 20'000u);
      ++seen;
    }
    // Bits that have come together may be worth a read.
    at = came() != before && came() - before < (64 << 10) ? b.iface->clock() : 0;
    before = came();
  }
  EXPECT_GT(seen, 10);
  ASSERT_TRUE(pass_until(wire, {&a, &b}, [&] { return done.calls == 1; }));
  EXPECT_EQ(done.result, ASHLAR_OK);
  EXPECT_TRUE(memory == target);
}

TEST(Connections, ThePeersEndIsToldWithItsAddress) {
  auto a = std::make_unique<Process>(0);
  Process b(1);
  ashlar_endpoint* const to_a = b.connect(0, *a);
  ASSERT_NE(to_a, nullptr);
  b.send(to_a, 0);
  ASSERT_TRUE(progress_until({a.get(), &b}, [&] { return a->got.size() == 1; }));
  a.reset();  // in good order
  progress_for({&b}, 50);
  EXPECT_TRUE(b.failures.empty()) << b.failures[0].second;
  b.send(to_a, 1);  // its receiver is gone
  ASSERT_TRUE(progress_until({&b}, [&] { return b.failures.size() == 1; }));
  EXPECT_NE(b.failures[0].second.find("127.0.0.1:"), std::string::npos) << b.failures[0].second;
}

TEST(Connections, TheKernelNumbersItsPeers) {
  Process a(0), b(1);
  a.offset = 40;
  ashlar_endpoint* const to_a = b.connect(0, a);
  ASSERT_NE(to_a, nullptr);
  b.send(to_a, 0);
  ASSERT_TRUE(progress_until({&a, &b}, [&] { return a.got.size() == 1; }));
  EXPECT_EQ(a.got[0].first, 41u);
  // The kernel does not know the process any more: what it still sends is dropped, until it is known again.
  a.knows_others = false;
  a.iface->forget(41);
  b.send(to_a, 1);
  progress_for({&a, &b}, 100);
  EXPECT_EQ(a.got.size(), 1u);
  a.knows_others = true;
  ashlar_endpoint* const to_b = a.connect(50, b);
  ASSERT_NE(to_b, nullptr);
  a.send(to_b, 2);
  ASSERT_TRUE(progress_until({&a, &b}, [&] { return b.got.size() == 1; }));
  EXPECT_TRUE(a.failures.empty() && b.failures.empty());
}

class Parting : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(WithAndWithoutTime, Parting, testing::Bool());

// Both end their connection at the same time.
TEST_P(Parting, WhatIsSentToAProcessThatIsMetAgainIsNotLost) {
  Process a(0), b(1);
  ashlar_endpoint *to_a = b.connect(0, a), *to_b = a.connect(1, b);
  ASSERT_TRUE(to_a != nullptr && to_b != nullptr) << last_failure;
  b.send(to_a, 0);
  a.send(to_b, 1);
  ASSERT_TRUE(progress_until({&a, &b}, [&] { return a.got.size() == 1 && b.got.size() == 1; }));
  a.iface->forget(1);
  b.iface->forget(0);
  if (GetParam()) {  // the frames have arrived
    const auto open = [](Process& process) { return process.iface->counters.connections.now.get(); };
    EXPECT_TRUE(progress_until({&a, &b}, [&] { return open(a) == 0 && open(b) == 0; }));
  }
  to_a = b.connect(0, a);
  to_b = a.connect(1, b);
  ASSERT_TRUE(to_a != nullptr && to_b != nullptr) << last_failure;
  b.send(to_a, 2);
  a.send(to_b, 3);
  EXPECT_TRUE(progress_until({&a, &b}, [&] { return a.got.size() == 2 && b.got.size() == 2; }));
  EXPECT_TRUE(a.failures.empty() && b.failures.empty());
}

TEST(Connections, LanesShareThePort) {
  Process lane0(0), lane1(0), peer(1);
  EXPECT_EQ(lane0.address().port, lane1.address().port);
  ashlar_endpoint* const first = peer.connect(0, lane0);
  ASSERT_NE(first, nullptr);
  ashlar_endpoint* const second = peer.connect(0, lane1);
  ASSERT_NE(second, nullptr);
  peer.send(first, 0);
  peer.send(second, 1);
  EXPECT_TRUE(progress_until({&lane0, &lane1, &peer}, [&] { return lane0.got.size() == 1 && lane1.got.size() == 1; }));
  EXPECT_EQ(lane0.got[0].second, 0u);
  EXPECT_EQ(lane1.got[0].second, 1u);
}

// Processes of other hosts may be started or met later.
TEST(Connections, AJobOnOneNodePublishesItsNetworksAndConnectsOverTheLoopback) {
  Config config = usual();
  config.interfaces = "auto";
  Process callee(0, config), caller(1, config);
  EXPECT_EQ(callee.address().candidates.size(), ip::own_addresses(ip::Interfaces("auto")).size());
  decisions.clear();
  ashlar_endpoint* const to = caller.connect(0, callee);
  ASSERT_NE(to, nullptr) << last_failure;
  caller.send(to, 1);
  EXPECT_TRUE(progress_until({&callee, &caller}, [&] { return callee.got.size() == 1; }));
  ASSERT_EQ(decisions.size(), 2u);
  for (const std::string& told : decisions)
    EXPECT_TRUE(told.find("127.0.0.1:") != std::string::npos || told.find("[::1]:") != std::string::npos) << told;
}

TEST(Connections, AProcessThatPublishesTheLoopbackAloneListensThereAlone) {
  const Process process(0);  // with interfaces=lo
  EXPECT_TRUE(SocketAddress::of_own(Door::of_process({}, false)->fd()).loopback());
}

TEST(Connections, WordsThatMeanNothingAreRefused) {
  Config config = usual();
  config.ports = "many";
  EXPECT_LT(Process(0, config).opened, 0);
  EXPECT_NE(last_failure.find("tcp.ports value=many"), std::string::npos) << last_failure;
  config = usual();
  config.interfaces = "10.0.0.0/99";
  EXPECT_LT(Process(0, config).opened, 0);
  EXPECT_NE(last_failure.find("tcp.interfaces value=10.0.0.0/99"), std::string::npos) << last_failure;
  config.interfaces = "nosuch0";
  EXPECT_LT(Process(0, config).opened, 0);
  EXPECT_NE(last_failure.find("tcp.no_interface"), std::string::npos) << last_failure;
}

}  // namespace
}  // namespace ashlar::tcp::test
