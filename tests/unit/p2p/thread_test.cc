#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/unit/p2p/world.h"

namespace ashlar::test {
namespace {

// What another thread of the same process does without a round of progress reaches the one that sleeps.
TEST(Sleepers, HearOfMessagesToTheirOwnProcessAndOfCancels) ASHLAR_NO_THREAD_SAFETY {
  World world(1);
  Lane& lane = world[0].lane;
  int in = 0, out = 5;
  Request *receive = nullptr, *send = nullptr;
  ASSERT_TRUE(p2p::irecv(&in, 4, bytes(), 0, 1, world.comm(0), &receive).ok());
  lane.armed = lane.sleepers = 1;
  std::uint32_t before = lane.wake_word;
  ASSERT_TRUE(p2p::isend(&out, 4, bytes(), 0, 1, world.comm(0), &send).ok());
  EXPECT_NE(lane.wake_word, before);
  ASSERT_TRUE(world.finish(receive).ok());
  ASSERT_TRUE(world.finish(send).ok());
  EXPECT_EQ(in, 5);
  ASSERT_TRUE(p2p::irecv(&in, 4, bytes(), 0, 1, world.comm(0), &receive).ok());
  before = lane.wake_word;
  ASSERT_TRUE(p2p::cancel(receive).ok());
  EXPECT_NE(lane.wake_word, before);
  EXPECT_TRUE(receive->complete());
  lane.armed = lane.sleepers = 0;
  ASSERT_TRUE(world.finish(receive).ok());
}

TEST(Sleepers, HearOfReadsThatAreUnderWay) ASHLAR_NO_THREAD_SAFETY {
  LoopOptions options;
  options.get_pending = 1;
  World world(2, options);
  Lane& lane = world[1].lane;
  std::vector<std::byte> out(50000, std::byte{7}), in(50000);
  Request *receive = nullptr, *send = nullptr;
  ASSERT_TRUE(p2p::isend(out.data(), 50000, bytes(), 1, 1, world.comm(0), &send).ok());
  world.poll();  // its RTS is here, and no receive has asked for it
  lane.armed = lane.sleepers = 1;
  const std::uint32_t before = lane.wake_word;
  ASSERT_TRUE(p2p::irecv(in.data(), 50000, bytes(), 0, 1, world.comm(1), &receive).ok());
  EXPECT_FALSE(receive->complete());
  EXPECT_NE(lane.wake_word, before);
  lane.armed = lane.sleepers = 0;
  ASSERT_TRUE(world.finish(receive).ok());
  ASSERT_TRUE(world.finish(send).ok());
  EXPECT_EQ(in, out);
}

TEST(Blocking, TwoProcessesExchangeMessagesOfAllSizes) {
  LoopOptions options;
  options.room = 8;
  World world(2, options);
  const auto run = [&](int rank) {
    const int other = 1 - rank;
    for (int round = 0; round < 30; ++round) {
      for (const MPI_Count size : {MPI_Count{0}, MPI_Count{8}, MPI_Count{700}, MPI_Count{3000}, MPI_Count{90000}}) {
        std::vector<std::byte> out(static_cast<std::size_t>(size), static_cast<std::byte>(rank + round));
        std::vector<std::byte> in(static_cast<std::size_t>(size));
        Comm& comm = world.comm(rank);
        if (rank == 0) {
          ASSERT_TRUE(p2p::send(out.data(), size, bytes(), other, round, comm).ok());
          ASSERT_TRUE(p2p::recv(in.data(), size, bytes(), other, round, comm, MPI_STATUS_IGNORE).ok());
        } else {
          ASSERT_TRUE(p2p::recv(in.data(), size, bytes(), MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE).ok());
          ASSERT_TRUE(p2p::ssend(out.data(), size, bytes(), other, round, comm).ok());
        }
        for (const std::byte b : in) ASSERT_EQ(b, static_cast<std::byte>(other + round));
        MPI_Status status;
        ASSERT_TRUE(
            p2p::sendrecv(out.data(), size, bytes(), other, 1, in.data(), size, bytes(), other, 1, comm, &status).ok());
        ASSERT_TRUE(p2p::sendrecv_replace(in.data(), size, bytes(), other, 2, other, 2, comm, &status).ok());
        for (const std::byte b : in) ASSERT_EQ(b, static_cast<std::byte>(rank + round));
      }
    }
  };
  std::thread peer([&] { run(1); });
  run(0);
  peer.join();
}

// Several threads of one process on one lane, each with its own conversation; the threads of the peer answer in another
// order. A thread that waits must let the others in, and what one thread receives may be another's message.
TEST(Threads, ShareALane) {
  LaneLock::enable_threads();
  World world(2);
  constexpr int kThreads = 4, kRounds = 60;
  std::atomic<int> bad{0};
  const auto converse = [&](int rank, int tag) {
    const int other = 1 - rank;
    for (int round = 0; round < kRounds; ++round) {
      const MPI_Count size = round % 3 == 0 ? 3000 : 16;
      std::vector<int> out(static_cast<std::size_t>(size) / 4, tag * 1000 + round), in(out.size());
      Request *send = nullptr, *receive = nullptr;
      if (!p2p::irecv(in.data(), size, bytes(), other, tag, world.comm(rank), &receive).ok()) ++bad;
      if (!p2p::isend(out.data(), size, bytes(), other, tag, world.comm(rank), &send).ok()) ++bad;
      if (!p2p::wait(&receive, MPI_STATUS_IGNORE).ok()) ++bad;
      if (!p2p::wait(&send, MPI_STATUS_IGNORE).ok()) ++bad;
      if (in != out) ++bad;
    }
  };
  std::vector<std::thread> threads;
  for (int tag = 0; tag < kThreads; ++tag) {
    threads.emplace_back([&, tag] { converse(0, tag); });
    threads.emplace_back([&, tag] { converse(1, kThreads - 1 - tag); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bad.load(), 0);
}

// One thread sits in a receive whose message another thread of the same process sends, much later.
TEST(Threads, AWaitingThreadDoesNotKeepOthersOut) {
  LaneLock::enable_threads();
  World world(1);
  int in = 0;
  std::thread waiting([&] { ASSERT_TRUE(p2p::recv(&in, 4, bytes(), 0, 9, world.comm(0), MPI_STATUS_IGNORE).ok()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));  // long enough for it to fall asleep
  const int value = 5;
  ASSERT_TRUE(p2p::send(&value, 4, bytes(), 0, 9, world.comm(0)).ok());
  waiting.join();
  EXPECT_EQ(in, 5);
}

}  // namespace
}  // namespace ashlar::test
