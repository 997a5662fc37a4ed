#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "framework/p2p/partitioned_api.h"
#include "tests/unit/p2p/faults.h"
#include "tests/unit/p2p/world.h"

namespace ashlar::test {
namespace {

std::byte byte_of(unsigned round, std::size_t i) {
  return static_cast<std::byte>((i * 7 + i / 251 + round * 31) & 0xff);
}

/// One partitioned message from process 0 to process 1, both sides with cuts of their own.
struct Transfer {
  Transfer(World& w, int send_parts, int recv_parts, std::size_t bytes_sent, std::size_t room)
      : world(w), out(bytes_sent), in(room), cuts(send_parts), pieces(recv_parts) {
    const auto part = [](std::size_t all, int count) {
      return static_cast<MPI_Count>(all / static_cast<unsigned>(count));
    };
    const auto make_send = [&] {
      EXPECT_TRUE(
          p2p::psend_init(out.data(), cuts, part(out.size(), cuts), bytes(), 1, 3, world.comm(0), nullptr, &send).ok());
    };
    const auto make_receive = [&] {
      EXPECT_TRUE(
          p2p::precv_init(in.data(), pieces, part(in.size(), pieces), bytes(), 0, 3, world.comm(1), nullptr, &receive)
              .ok());
    };
    make_send();
    if (bytes_sent % 2 == 0) world.poll();
    make_receive();
  }
  ~Transfer() {
    for (Request* request : {send, receive}) {
      const bool active = request->active();  // one that a dead process holds
      EXPECT_EQ(p2p::request_free(&request).ok(), !active);
    }
  }

  void fill(unsigned round) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = byte_of(round, i);
    std::fill(in.begin(), in.end(), std::byte{0xee});
  }
  void start(Request* r) { EXPECT_TRUE(p2p::start(&r).ok()); }
  Status end(Request* r, MPI_Status* status = MPI_STATUS_IGNORE) {
    EXPECT_TRUE(world.complete(r));
    return p2p::wait(&r, status);
  }
  /// What has arrived is there, byte for byte.
  void look(unsigned round) {
    const std::size_t part = in.size() / static_cast<unsigned>(pieces);
    for (int p = 0; p < pieces; ++p) {
      int flag = 0;
      ASSERT_TRUE(p2p::parrived(receive, p, &flag).ok());
      if (!flag) continue;
      for (std::size_t i = part * static_cast<unsigned>(p); i < part * static_cast<unsigned>(p + 1); ++i)
        ASSERT_EQ(in[i], byte_of(round, i)) << "byte " << i << " of partition " << p;
    }
  }

  World& world;
  std::vector<std::byte> out, in;
  const int cuts, pieces;
  Request *send = nullptr, *receive = nullptr;
};

p2p::Config mixed() {
  p2p::Config config;
  config.get_min = 3000;  // smaller pieces travel in messages, larger ones are read
  return config;
}

class Partitioned : public testing::TestWithParam<unsigned> {};

TEST_P(Partitioned, EveryPartitionArrivesHoweverItIsCutAndInWhateverOrder) {
  World world(2, faults(GetParam()), mixed());
  std::mt19937 random(GetParam());
  for (int n = 0; n < 6; ++n) {
    const int cuts = 1 + static_cast<int>(random() % 20), pieces = 1 + static_cast<int>(random() % 20);
    const std::size_t whole = static_cast<unsigned>(cuts * pieces) * (1 + random() % 400);
    Transfer t(world, cuts, pieces, whole, whole);
    for (unsigned round = 0; round < 4; ++round) {
      t.fill(round);
      std::vector<int> order(static_cast<unsigned>(cuts));
      std::iota(order.begin(), order.end(), 0);
      if (random() % 2) std::shuffle(order.begin(), order.end(), random);
      if (round % 2) t.start(t.receive);
      t.start(t.send);
      const std::size_t late = random() % order.size();
      for (std::size_t i = 0; i < order.size(); ++i) {
        ASSERT_TRUE(p2p::pready(order[i], t.send).ok());
        if (i == late && round % 2 == 0) t.start(t.receive);
        if (random() % 3 == 0) world.poll();
        if (random() % 3 == 0 && t.receive->active()) t.look(round);
      }
      ASSERT_TRUE(t.end(t.send).ok());
      ASSERT_TRUE(t.end(t.receive).ok());
      t.look(round);
      ASSERT_EQ(t.in, t.out);
    }
  }
  EXPECT_EQ(world[0].others->exposed, world[0].others->unexposed);
}

TEST_P(Partitioned, WhatHasNoRoomIsCutOff) {
  World world(2, faults(GetParam()), mixed());
  Transfer t(world, 4, 2, 40000, 25000);
  for (unsigned round = 0; round < 3; ++round) {
    t.fill(round);
    t.start(t.receive);
    t.start(t.send);
    ASSERT_TRUE(p2p::pready_range(2, 3, t.send).ok());
    ASSERT_TRUE(p2p::pready_range(0, 1, t.send).ok());
    ASSERT_TRUE(t.end(t.send).ok());
    EXPECT_EQ(t.end(t.receive).mpi_class(), MPI_ERR_TRUNCATE);
    for (std::size_t i = 0; i < t.in.size(); ++i) ASSERT_EQ(t.in[i], byte_of(round, i));
  }
}

// A partition that is ready is there before the next one is: the last need not be waited for.
TEST_P(Partitioned, PartitionsTravelWhenTheyAreReady) {
  World world(2, faults(GetParam()), mixed());
  Transfer t(world, 4, 4, 80000, 80000);
  t.fill(1);
  t.start(t.send);
  t.start(t.receive);
  for (const int p : {2, 0, 3, 1}) {
    int flag = 0;
    ASSERT_TRUE(p2p::parrived(t.receive, p, &flag).ok());
    EXPECT_FALSE(flag);
    ASSERT_TRUE(p2p::pready(p, t.send).ok());
    EXPECT_TRUE(world.poll_until([&] { return p2p::parrived(t.receive, p, &flag).ok() && flag; }));
    t.look(1);
  }
  ASSERT_TRUE(t.end(t.send).ok());
  ASSERT_TRUE(t.end(t.receive).ok());
}

TEST_P(Partitioned, ADeadPeerEndsBothSides) {
  LoopOptions options = faults(GetParam());
  options.delay = 0.5;
  for (const unsigned dead : {0u, 1u}) {
    World world(2, options, mixed());
    Transfer t(world, 8, 8, 64000, 64000);
    t.fill(0);
    t.start(t.send);
    t.start(t.receive);
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(p2p::pready(i, t.send).ok());
      if (i != 3) world.poll();
    }
    world.network().kill(dead);
    Request* const alive = dead == 0 ? t.receive : t.send;
    ASSERT_TRUE(world.poll_until([alive] { return alive->complete(); }));
    Request* handle = alive;
    EXPECT_EQ(p2p::wait(&handle, MPI_STATUS_IGNORE).mpi_class(), MPI_ERR_PROC_ABORTED);
    if (dead == 1) {
      EXPECT_EQ(world[0].others->exposed, world[0].others->unexposed);
    }
  }
}

// Requests that are freed unused still count: the first of one side belongs to the first of the other, and so on.
TEST_P(Partitioned, FreedRequestsKeepTheirPlaceInTheOrder) {
  LoopOptions options = faults(GetParam());
  options.room = 2;  // most offers have to wait
  World world(2, options, mixed());
  std::mt19937 random(GetParam());
  constexpr int kPairs = 12;
  std::array<std::array<std::byte, 64>, kPairs> out, in;
  std::array<Request*, kPairs> sends{}, receives{};
  std::array<bool, kPairs> used{};
  for (std::size_t i = 0; i < kPairs; ++i) {
    out[i].fill(static_cast<std::byte>(i + 1));
    used[i] = random() % 2;
  }
  for (const bool sender : {random() % 2 == 0, true, false}) {
    for (std::size_t i = 0; i < kPairs; ++i) {
      Request*& r = sender ? sends[i] : receives[i];
      if (r != nullptr) break;
      const Status made = sender ? p2p::psend_init(out[i].data(), 2, 32, bytes(), 1, 3, world.comm(0), nullptr, &r)
                                 : p2p::precv_init(in[i].data(), 4, 16, bytes(), 0, 3, world.comm(1), nullptr, &r);
      ASSERT_TRUE(made.ok());
      Request* freed = r;
      if (!used[i]) {
        ASSERT_TRUE(p2p::request_free(&freed).ok());
      }
    }
  }
  for (std::size_t i = 0; i < kPairs; ++i) {
    if (!used[i]) continue;
    for (Request* r : {sends[i], receives[i]}) ASSERT_TRUE(p2p::start(&r).ok());
    ASSERT_TRUE(p2p::pready_range(0, 1, sends[i]).ok());
    for (Request* r : {sends[i], receives[i]}) {
      ASSERT_TRUE(world.complete(r)) << i;
      Request* handle = r;
      ASSERT_TRUE(p2p::wait(&handle, MPI_STATUS_IGNORE).ok());
    }
    EXPECT_EQ(in[i], out[i]);
    for (Request* r : {sends[i], receives[i]}) ASSERT_TRUE(p2p::request_free(&r).ok());
  }
}

TEST_P(Partitioned, NothingStartsWithAPeerThatIsGone) {
  for (const bool paired : {true, false}) {
    World world(2, faults(GetParam()), mixed());
    std::vector<std::byte> room(64);
    Request *send = nullptr, *receive = nullptr, *theirs = nullptr;
    ASSERT_TRUE(p2p::psend_init(room.data(), 2, 32, bytes(), 1, 3, world.comm(0), nullptr, &send).ok());
    ASSERT_TRUE(p2p::precv_init(room.data(), 2, 32, bytes(), 1, 4, world.comm(0), nullptr, &receive).ok());
    if (paired) {
      ASSERT_TRUE(p2p::psend_init(room.data(), 2, 32, bytes(), 0, 4, world.comm(1), nullptr, &theirs).ok());
      for (int i = 0; i < 100; ++i) world.poll();
    }
    world.network().kill(1);
    for (int i = 0; i < 10; ++i) world[0].poll();
    for (Request* r : {send, receive}) {
      EXPECT_EQ(p2p::start(&r).mpi_class(), MPI_ERR_PROC_ABORTED);
      ASSERT_TRUE(p2p::request_free(&r).ok());
    }
    if (paired) {
      ASSERT_TRUE(p2p::request_free(&theirs).ok());
    }
  }
}

// An offer that the receiver has no room for fails at its sender, started or not; those that are kept are not
// disturbed.
TEST_P(Partitioned, AnOfferThatCannotBeKeptFailsAtItsSender) {
  constexpr std::size_t kLimit = 4, kEach = 3;
  p2p::Config config = mixed();
  config.request_limit = kLimit;
  World world(3, faults(GetParam()), config);
  std::vector<std::byte> out(64), in(64);
  std::vector<Request*> sends;
  for (std::size_t i = 0; i < kEach; ++i) {
    for (const int from : {0, 2}) {
      Request* r = nullptr;
      ASSERT_TRUE(p2p::psend_init(out.data(), 2, 32, bytes(), 1, 3, world.comm(from), nullptr, &r).ok());
      if ((i + GetParam()) % 2 == 0) {
        ASSERT_TRUE(p2p::start(&r).ok());
      }
      sends.push_back(r);
    }
  }
  for (int i = 0; i < 2000; ++i) world.poll();
  std::size_t refused = 0;
  for (Request*& r : sends) {
    const bool started = r->active() || r->complete();
    Status outcome;
    if (!started) {
      outcome = p2p::start(&r);
    } else if (r->complete()) {
      Request* handle = r;
      outcome = p2p::wait(&handle, MPI_STATUS_IGNORE);
    }
    if (outcome.ok()) continue;
    ++refused;
    EXPECT_EQ(outcome.mpi_class(), MPI_ERR_NO_MEM);
    EXPECT_NE(std::string(outcome.text()).find("rank 1"), std::string::npos) << outcome.text();
    ASSERT_TRUE(p2p::request_free(&r).ok());
    r = nullptr;
  }
  EXPECT_EQ(refused, sends.size() - kLimit);
  std::size_t received = 0;
  for (const int from : {0, 2}) {
    for (Request* send : sends) {
      if (send == nullptr || &send->lane() != &world[from].lane) continue;
      Request* receive = nullptr;
      ASSERT_TRUE(p2p::precv_init(in.data(), 2, 32, bytes(), from, 3, world.comm(1), nullptr, &receive).ok());
      ASSERT_TRUE(p2p::start(&receive).ok());
      ASSERT_TRUE(p2p::pready_range(0, 1, send).ok());
      for (Request* r : {send, receive}) {
        ASSERT_TRUE(world.complete(r));
        Request* handle = r;
        ASSERT_TRUE(p2p::wait(&handle, MPI_STATUS_IGNORE).ok());
        ASSERT_TRUE(p2p::request_free(&r).ok());
      }
      ++received;
    }
  }
  EXPECT_EQ(received, kLimit);
}

// An offer that was refused is the partner of the receiving request of its place in the order: both fail, and those
// behind them pair with each other.
TEST_P(Partitioned, RefusedOffersKeepTheirPlaceInTheOrder) {
  constexpr int kSent = 12, kTags = 3;
  p2p::Config config = mixed();
  config.request_limit = 4;
  LoopOptions options = faults(GetParam());
  World world(2, options, config);
  std::mt19937 random(GetParam());
  struct One {
    Request* send;
    std::array<std::byte, 64> out;
    bool refused;
  };
  std::array<std::vector<std::unique_ptr<One>>, kTags> sent;
  std::array<std::size_t, kTags> taken{};
  const auto send = [&](int tag) {
    auto one = std::make_unique<One>();
    one->out.fill(static_cast<std::byte>(random()));
    // The sender's own limit is as small: a request that is done with goes, and its offer stays.
    if (!p2p::psend_init(one->out.data(), 2, 32, bytes(), 1, tag, world.comm(0), nullptr, &one->send).ok()) return;
    for (int i = 0; i < 300; ++i) world.poll();
    one->refused = !p2p::start(&one->send).ok();
    if (one->refused) {
      ASSERT_TRUE(p2p::request_free(&one->send).ok());
    }
    sent[static_cast<unsigned>(tag)].push_back(std::move(one));
  };
  const auto receive = [&](int tag) {
    const auto at = static_cast<unsigned>(tag);
    if (taken[at] == sent[at].size()) return;
    One& one = *sent[at][taken[at]++];
    std::array<std::byte, 64> in{};
    Request* r = nullptr;
    const Status made = p2p::precv_init(in.data(), 2, 32, bytes(), 0, tag, world.comm(1), nullptr, &r);
    ASSERT_TRUE(made.ok()) << made.text();
    const Status started = p2p::start(&r);
    ASSERT_EQ(started.ok(), !one.refused) << started.text();
    if (one.refused) {
      EXPECT_EQ(started.mpi_class(), MPI_ERR_NO_MEM);
    } else {
      ASSERT_TRUE(p2p::pready_range(0, 1, one.send).ok());
      for (Request* each : {one.send, r}) {
        ASSERT_TRUE(world.complete(each));
        Request* handle = each;
        ASSERT_TRUE(p2p::wait(&handle, MPI_STATUS_IGNORE).ok());
      }
      EXPECT_EQ(in, one.out);
      ASSERT_TRUE(p2p::request_free(&one.send).ok());
    }
    ASSERT_TRUE(p2p::request_free(&r).ok());
  };
  // Two senders' worth of offers lie there: those of process 1 to itself fill the room, and go in between.
  std::vector<Request*> filling;
  std::size_t refused = 0;
  for (int n = 0; n < 10 * kSent; ++n) {
    const int tag = static_cast<int>(random() % kTags);
    switch (random() % 4) {
      case 0:
        receive(tag);
        break;
      case 1: {
        Request* r = nullptr;
        std::array<std::byte, 1> none{};
        if (p2p::psend_init(none.data(), 1, 0, bytes(), 1, 9, world.comm(1), nullptr, &r).ok()) filling.push_back(r);
        for (int i = 0; i < 300; ++i) world.poll();
        break;
      }
      case 2:
        if (!filling.empty()) {
          Request* r = nullptr;
          ASSERT_TRUE(p2p::precv_init(nullptr, 1, 0, bytes(), 1, 9, world.comm(1), nullptr, &r).ok());
          ASSERT_TRUE(p2p::request_free(&r).ok());
          ASSERT_TRUE(p2p::request_free(&filling.front()).ok());
          filling.erase(filling.begin());
        }
        break;
      default:
        send(tag);
    }
  }
  for (int tag = 0; tag < kTags; ++tag) {
    for (const auto& one : sent[static_cast<unsigned>(tag)]) refused += one->refused;
    for (std::size_t i = 0; i < sent[static_cast<unsigned>(tag)].size(); ++i) receive(tag);
  }
  for (Request*& r : filling) {
    ASSERT_TRUE(p2p::request_free(&r).ok());
  }
  EXPECT_GT(refused, 0u);
}

// Where there is no room to count what was refused either, no request pairs with a wrong one.
TEST_P(Partitioned, AnOrderThatIsLostPairsNothing) {
  constexpr int kRoom = 2;
  p2p::Config config = mixed();
  config.request_limit = kRoom;
  World world(4, faults(GetParam()), config);
  std::array<std::byte, 64> data{};
  std::vector<Request*> sends;
  for (const int from : {0, 2, 3}) {
    for (int tag = 0; tag < kRoom; ++tag) {
      Request* r = nullptr;
      ASSERT_TRUE(p2p::psend_init(data.data(), 2, 32, bytes(), 1, tag, world.comm(from), nullptr, &r).ok());
      for (int i = 0; i < 300; ++i) world.poll();
      sends.push_back(r);
    }
  }
  const std::array<int, 3> classes = {MPI_SUCCESS, MPI_ERR_NO_MEM, MPI_ERR_NO_MEM};
  for (std::size_t i = 0; i < sends.size(); ++i) EXPECT_EQ(p2p::start(&sends[i]).mpi_class(), classes[i / kRoom]) << i;
  const std::array<int, 3> sources = {0, 2, 3};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Request* r = nullptr;
    const Status made = p2p::precv_init(data.data(), 2, 32, bytes(), sources[i], 0, world.comm(1), nullptr, &r);
    if (i == 2) {
      EXPECT_EQ(made.mpi_class(), MPI_ERR_NO_MEM);
      continue;
    }
    ASSERT_TRUE(made.ok());
    if (i == 0) {
      EXPECT_TRUE(p2p::start(&r).ok());
      ASSERT_TRUE(p2p::pready_range(0, 1, sends[0]).ok());
      for (Request* each : {sends[0], r}) {
        ASSERT_TRUE(world.complete(each));
        Request* handle = each;
        ASSERT_TRUE(p2p::wait(&handle, MPI_STATUS_IGNORE).ok());
      }
    } else {
      EXPECT_EQ(p2p::start(&r).mpi_class(), MPI_ERR_NO_MEM);
    }
    ASSERT_TRUE(p2p::request_free(&r).ok());
  }
  // The envelope that has an entry goes on in its order.
  Request* kept = nullptr;
  ASSERT_TRUE(p2p::precv_init(data.data(), 2, 32, bytes(), 0, 1, world.comm(1), nullptr, &kept).ok());
  ASSERT_TRUE(p2p::start(&kept).ok());
  ASSERT_TRUE(p2p::pready_range(0, 1, sends[1]).ok());
  for (Request* each : {sends[1], kept}) {
    ASSERT_TRUE(world.complete(each));
    Request* handle = each;
    ASSERT_TRUE(p2p::wait(&handle, MPI_STATUS_IGNORE).ok());
    ASSERT_TRUE(p2p::request_free(&each).ok());
  }
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (i == 1) continue;
    ASSERT_TRUE(p2p::request_free(&sends[i]).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Partitioned, testing::Range(1u, 25u));

TEST(PartitionedReading, LargePartsAreReadAndSmallOnesSent) {
  World world(2, {}, mixed());
  Transfer large(world, 4, 2, 40000, 40000);
  large.start(large.receive);
  large.start(large.send);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(p2p::pready(i, large.send).ok());
    world.poll();
  }
  EXPECT_EQ(world[1].others->gets, 4u);
  ASSERT_TRUE(large.end(large.send).ok());
  ASSERT_TRUE(large.end(large.receive).ok());
  Transfer small(world, 4, 2, 4000, 4000);
  small.start(small.receive);
  small.start(small.send);
  ASSERT_TRUE(p2p::pready(0, small.send).ok());
  ASSERT_TRUE(p2p::pready_range(1, 3, small.send).ok());
  ASSERT_TRUE(small.end(small.send).ok());
  ASSERT_TRUE(small.end(small.receive).ok());
}

}  // namespace
}  // namespace ashlar::test
