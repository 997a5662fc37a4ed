#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "framework/base/log.h"
#include "framework/p2p/lane_state.h"
#include "tests/unit/p2p/world.h"

namespace ashlar::test {
namespace {

std::uint64_t pvar(Process& process, const std::string& name) ASHLAR_NO_THREAD_SAFETY {
  const auto* const block = reinterpret_cast<const std::byte*>(&process.lane.p2p->counters);
  for (const ashlar_pvar_row& row : p2p::kCounterRows)
    if (name == row.name) return reinterpret_cast<const Counter*>(block + row.offset)->get();
  ADD_FAILURE() << "no performance variable " << name;
  return 0;
}

TEST(Unexpected, MemoryOfOnePeerIsBoundedAndNothingIsLost) {
  constexpr int kMessages = 3000, kBytes = 1000;
  p2p::Config config;
  config.unexpected_limit = 100000;
  World world(2, {}, config);
  std::vector<Request*> sends(kMessages);
  std::vector<std::array<std::byte, kBytes>> data(kMessages);
  for (int i = 0; i < kMessages; ++i) {
    data[static_cast<std::size_t>(i)].fill(static_cast<std::byte>(i));
    ASSERT_TRUE(p2p::isend(data[static_cast<std::size_t>(i)].data(), kBytes, bytes(), 1, i, world.comm(0),
                           &sends[static_cast<std::size_t>(i)])
                    .ok());
    world[1].poll();
  }
  for (int i = 0; i < 100; ++i) world.poll();
  EXPECT_EQ(pvar(world[1], "throttles"), 1u);
  // One budget of the short path may pass before the sender looks, and what is on the wire then; handshakes of the
  // messages that wait count as well, but not their data.
  EXPECT_LT(pvar(world[1], "unexpected_bytes_peak"),
            config.unexpected_limit + 200u * (kBytes + 200) + kMessages * 250u);
  EXPECT_GT(pvar(world[0], "handshakes"), 2000u);

  // Received in an order that has nothing to do with that of sending.
  for (int i = 0; i < kMessages; ++i) {
    const int number = (i * 1009) % kMessages;
    std::array<std::byte, kBytes> in{};
    Request* receive = nullptr;
    ASSERT_TRUE(p2p::irecv(in.data(), kBytes, bytes(), 0, number, world.comm(1), &receive).ok());
    ASSERT_TRUE(world.finish(receive).ok());
    ASSERT_EQ(in, data[static_cast<std::size_t>(number)]);
  }
  for (Request* send : sends) ASSERT_TRUE(world.finish(send).ok());
  EXPECT_EQ(pvar(world[1], "unexpected"), 0u);
  EXPECT_EQ(pvar(world[1], "unexpected_bytes"), 0u);

  // Resumed: the next message needs no handshake.
  for (int i = 0; i < 5; ++i) world.poll();
  const std::uint64_t handshakes = pvar(world[0], "handshakes");
  Request* send = nullptr;
  ASSERT_TRUE(p2p::isend(data[0].data(), kBytes, bytes(), 1, 1, world.comm(0), &send).ok());
  EXPECT_TRUE(send->complete());
  EXPECT_EQ(pvar(world[0], "handshakes"), handshakes);
}

TEST(Unexpected, BlockingSenderThatNeverLooksIsStopped) {
  // The sender only sends; its short path never polls by itself except once per budget.
  p2p::Config config;
  config.unexpected_limit = 20000;
  World world(2, {}, config);
  std::array<std::byte, 40> message{};
  int sent = 0;
  Request* last = nullptr;
  for (; sent < 10000; ++sent) {
    ASSERT_TRUE(p2p::isend(message.data(), 40, bytes(), 1, 0, world.comm(0), &last).ok());
    if (!last->complete()) break;
    world[1].poll();
  }
  EXPECT_LT(sent, 500) << "a message that is not complete is one that a blocking send would wait for";
  std::array<std::byte, 40> in;
  for (int i = 0; i <= sent; ++i) {
    Request* receive = nullptr;
    ASSERT_TRUE(p2p::irecv(in.data(), 40, bytes(), 0, 0, world.comm(1), &receive).ok());
    ASSERT_TRUE(world.finish(receive).ok());
  }
  ASSERT_TRUE(world.finish(last).ok());
}

TEST(Unexpected, MemoryOfAllPeersTogetherIsBounded) {
  constexpr int kSenders = 4, kBytes = 1000;
  p2p::Config config;
  config.unexpected_limit = 1 << 20;
  config.unexpected_total_limit = 60000;
  World world(kSenders + 1, {}, config);
  std::vector<std::byte> data(kBytes);
  std::vector<std::vector<Request*>> sends(kSenders);
  for (int i = 0; i < 400; ++i) {
    for (int from = 0; from < kSenders; ++from) {
      Request* r = nullptr;
      ASSERT_TRUE(p2p::isend(data.data(), kBytes, bytes(), kSenders, i, world.comm(from), &r).ok());
      sends[static_cast<std::size_t>(from)].push_back(r);
    }
    world.poll();
  }
  // No rank sent as much as one peer may; each was throttled, and goes on once there is room again.
  EXPECT_EQ(pvar(world[kSenders], "throttles"), static_cast<std::uint64_t>(kSenders));
  EXPECT_LT(pvar(world[kSenders], "unexpected_bytes_peak"),
            config.unexpected_total_limit + kSenders * (130u * (kBytes + 200) + 400u * 250u));
  for (int from = 0; from < kSenders; ++from) {
    for (int i = 0; i < 400; ++i) {
      Request* receive = nullptr;
      ASSERT_TRUE(p2p::irecv(data.data(), kBytes, bytes(), from, i, world.comm(kSenders), &receive).ok());
      ASSERT_TRUE(world.finish(receive).ok());
      ASSERT_TRUE(world.finish(sends[static_cast<std::size_t>(from)][static_cast<std::size_t>(i)]).ok());
    }
  }
  EXPECT_EQ(pvar(world[kSenders], "unexpected_bytes"), 0u);
}

TEST(Unexpected, TheWarningNamesSenderTagAndCountAndComesOnce) {
  p2p::Config config;
  config.unexpected_limit = 10000;
  World world(2, {}, config);
  const int value = 1;
  std::vector<Request*> sends;
  log::set_level(log::Level::warn);
  testing::internal::CaptureStderr();
  for (int lap = 0; lap < 2; ++lap) {
    for (int i = 0; i < 300; ++i) {
      ASSERT_TRUE(p2p::isend(&value, 4, bytes(), 1, 70 + lap, world.comm(0), &sends.emplace_back()).ok());
      world.poll();
    }
    for (int i = 0; i < 300; ++i) {
      int in = 0;
      Request* receive = nullptr;
      ASSERT_TRUE(p2p::irecv(&in, 4, bytes(), 0, 70 + lap, world.comm(1), &receive).ok());
      ASSERT_TRUE(world.finish(receive).ok());
    }
    for (Request* send : sends) ASSERT_TRUE(world.finish(send).ok());
    sends.clear();
  }
  const std::string said = testing::internal::GetCapturedStderr();
  log::set_level(log::Level::error);
  EXPECT_EQ(pvar(world[1], "throttles"), 2u);
  const std::size_t at = said.find("rank 0 (process 0) has sent ");
  ASSERT_NE(at, std::string::npos) << said;
  EXPECT_EQ(said.find("rank 0 (process 0) has sent ", at + 1), std::string::npos) << said;
  EXPECT_NE(
      said.find(" messages that no receive has asked for, the last with tag 70; it will wait for receives from now "
                "on (p2p.unexpected_limit)"),
      std::string::npos)
      << said;
}

TEST(Outstanding, TenThousandPostedReceives) {
  constexpr int kCount = 10000;
  World world(2);
  std::vector<int> in(kCount, -1);
  std::vector<Request*> receives(kCount);
  for (int i = 0; i < kCount; ++i) {
    ASSERT_TRUE(p2p::irecv(&in[static_cast<std::size_t>(i)], 4, bytes(), 0, i, world.comm(1),
                           &receives[static_cast<std::size_t>(i)])
                    .ok());
  }
  for (int i = kCount; i-- > 0;) {
    Request* send = nullptr;
    ASSERT_TRUE(p2p::isend(&i, 4, bytes(), 1, i, world.comm(0), &send).ok());
    world[1].poll();
    ASSERT_TRUE(world.finish(send).ok());
  }
  for (int i = 0; i < kCount; ++i) {
    ASSERT_TRUE(world.finish(receives[static_cast<std::size_t>(i)]).ok());
    ASSERT_EQ(in[static_cast<std::size_t>(i)], i);
  }
}

TEST(Outstanding, TenThousandUnexpectedMessages) {
  constexpr int kCount = 10000;
  World world(2);
  for (int i = 0; i < kCount; ++i) {
    Request* send = nullptr;
    ASSERT_TRUE(p2p::isend(&i, 4, bytes(), 1, i, world.comm(0), &send).ok());
    world[1].poll();
    ASSERT_TRUE(world.finish(send).ok());
  }
  EXPECT_EQ(pvar(world[1], "unexpected"), static_cast<std::uint64_t>(kCount));
  for (int i = kCount; i-- > 0;) {
    int in = -1;
    const int source = i % 2 ? 0 : MPI_ANY_SOURCE;
    ASSERT_TRUE(p2p::recv(&in, 4, bytes(), source, i, world.comm(1), MPI_STATUS_IGNORE).ok());
    ASSERT_EQ(in, i);
  }
  EXPECT_EQ(pvar(world[1], "unexpected"), 0u);
}

TEST(DropContext, ForgetsOnlyThatCommunicatorsMessages) {
  World world(2);
  Process& receiver = world[1];
  int value = 1;
  ASSERT_TRUE(p2p::send(&value, 4, bytes(), 1, 0, world.comm(0)).ok());
  world.comm(0).context = 8;
  ASSERT_TRUE(p2p::send(&value, 4, bytes(), 1, 0, world.comm(0)).ok());
  receiver.poll();
  EXPECT_EQ(pvar(receiver, "unexpected"), 2u);
  {
    const LaneGuard guard(receiver.comm.lane->lock);
    receiver.comm.context = 8;
    p2p::drop_context(receiver.comm);
    receiver.comm.context = 2;
  }
  EXPECT_EQ(pvar(receiver, "unexpected"), 1u);
  ASSERT_TRUE(p2p::recv(&value, 4, bytes(), 0, 0, receiver.comm, MPI_STATUS_IGNORE).ok());
}

}  // namespace
}  // namespace ashlar::test
