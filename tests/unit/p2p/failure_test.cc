#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/object/handle.h"
#include "tests/unit/p2p/world.h"

namespace ashlar::test {
namespace {

TEST(PeerFailure, EndsWhatWaitsForThatPeerAndNothingElse) {
  LoopOptions options;
  options.room = 2;
  World world(3, options);
  std::vector<std::byte> large(50000);
  int small = 3, from_any = 0;
  Request *receive = nullptr, *other = nullptr, *any = nullptr;
  ASSERT_TRUE(p2p::irecv(&small, 4, bytes(), 1, 0, world.comm(0), &receive).ok());
  ASSERT_TRUE(p2p::irecv(&small, 4, bytes(), 2, 0, world.comm(0), &other).ok());
  ASSERT_TRUE(p2p::irecv(&from_any, 4, bytes(), MPI_ANY_SOURCE, 1, world.comm(0), &any).ok());
  std::vector<Request*> sends;
  for (int i = 0; i < 6; ++i) {  // more than there is room for: some wait for an answer, some for room
    Request*& send = sends.emplace_back();
    ASSERT_TRUE(p2p::isend(large.data(), 50000, bytes(), 1, 0, world.comm(0), &send).ok());
  }
  world.network().kill(1);
  for (int i = 0; i < 5; ++i) world[0].poll();
  const Status outcome = world.finish(receive);
  EXPECT_EQ(outcome.mpi_class(), MPI_ERR_PROC_ABORTED);
  EXPECT_STREQ(outcome.text(), "MPI_Irecv: rank 1 of 'MPI_COMM_WORLD' is gone. Its transport says: killed by the test");
  for (Request* send : sends) EXPECT_EQ(world.finish(send).mpi_class(), MPI_ERR_PROC_ABORTED);
  EXPECT_EQ(world[0].others->exposed, world[0].others->unexposed);
  EXPECT_FALSE(other->complete());
  EXPECT_FALSE(any->complete());

  EXPECT_EQ(p2p::send(&small, 4, bytes(), 1, 0, world.comm(0)).mpi_class(), MPI_ERR_PROC_ABORTED);
  EXPECT_EQ(p2p::probe(1, 0, world.comm(0), MPI_STATUS_IGNORE).mpi_class(), MPI_ERR_PROC_ABORTED);
  const int value = 8;
  ASSERT_TRUE(p2p::send(&value, 4, bytes(), 0, 0, world.comm(2)).ok());
  ASSERT_TRUE(p2p::send(&value, 4, bytes(), 0, 1, world.comm(2)).ok());
  EXPECT_TRUE(world.finish(other).ok());
  EXPECT_TRUE(world.finish(any).ok());
  EXPECT_EQ(small, 8);
  EXPECT_EQ(from_any, 8);
}

// More of them than a thread keeps failures.
TEST(PeerFailure, EachOfManyRequestsNamesTheReason) {
  World world(2);
  std::vector<std::byte> large(50000);
  int small = 0;
  std::vector<Request*> receives(100), sends(100);
  for (std::size_t i = 0; i < receives.size(); ++i) {
    ASSERT_TRUE(p2p::irecv(&small, 4, bytes(), 1, 0, world.comm(0), &receives[i]).ok());
    ASSERT_TRUE(p2p::isend(large.data(), 50000, bytes(), 1, 0, world.comm(0), &sends[i]).ok());
  }
  world.network().kill(1);
  for (int i = 0; i < 5; ++i) world[0].poll();
  for (Request* const receive : receives)
    EXPECT_STREQ(world.finish(receive).text(),
                 "MPI_Irecv: rank 1 of 'MPI_COMM_WORLD' is gone. Its transport says: killed by the test");
  for (Request* const send : sends)
    EXPECT_STREQ(world.finish(send).text(),
                 "MPI_Isend: rank 1 of 'MPI_COMM_WORLD' is gone. Its transport says: killed by the test");
}

TEST(PeerFailure, ReceivesPostedAfterwardsFailAtOnce) {
  World world(2);
  world.network().kill(1);
  int value = 0;
  Request* receive = nullptr;
  for (int i = 0; i < 3; ++i) world[0].poll();
  const Status posted = p2p::irecv(&value, 4, bytes(), 1, 0, world.comm(0), &receive);
  if (posted.ok()) {
    EXPECT_EQ(world.finish(receive).mpi_class(), MPI_ERR_PROC_ABORTED);
  } else {
    EXPECT_EQ(posted.mpi_class(), MPI_ERR_PROC_ABORTED);
  }
}

TEST(PeerFailure, MessagesThatArrivedBeforeCanStillBeReceived) {
  World world(2);
  const int value = 6;
  int in = 0;
  std::vector<std::byte> large(50000);
  ASSERT_TRUE(p2p::send(&value, 4, bytes(), 0, 0, world.comm(1)).ok());
  Request* send = nullptr;
  ASSERT_TRUE(p2p::isend(large.data(), 50000, bytes(), 0, 1, world.comm(1), &send).ok());
  world[0].poll();
  world.network().kill(1);
  for (int i = 0; i < 5; ++i) world[0].poll();
  EXPECT_TRUE(p2p::recv(&in, 4, bytes(), 1, 0, world.comm(0), MPI_STATUS_IGNORE).ok());
  EXPECT_EQ(in, 6);
  // Only announced: its data went with the sender.
  EXPECT_EQ(p2p::recv(large.data(), 50000, bytes(), 1, 1, world.comm(0), MPI_STATUS_IGNORE).mpi_class(),
            MPI_ERR_PROC_ABORTED);
}

TEST(PeerFailure, WaitAllDoesNotWaitForTheOthers) {
  World world(3);
  int a = 0, b = 0;
  Request *dead = nullptr, *alive = nullptr;
  ASSERT_TRUE(p2p::irecv(&a, 4, bytes(), 1, 0, world.comm(0), &dead).ok());
  ASSERT_TRUE(p2p::irecv(&b, 4, bytes(), 2, 0, world.comm(0), &alive).ok());
  world.network().kill(1);
  MPI_Request requests[2] = {to_handle<MPI_Request>(dead), to_handle<MPI_Request>(alive)};
  MPI_Status statuses[2];
  const Status outcome = p2p::wait_all(2, requests, statuses);
  EXPECT_EQ(outcome.mpi_class(), MPI_ERR_IN_STATUS);
  EXPECT_EQ(statuses[0].MPI_ERROR, MPI_ERR_PROC_ABORTED);
  EXPECT_EQ(statuses[1].MPI_ERROR, MPI_ERR_PENDING);
  EXPECT_EQ(requests[0], MPI_REQUEST_NULL);
  EXPECT_EQ(requests[1], to_handle<MPI_Request>(alive));
  const int value = 4;
  ASSERT_TRUE(p2p::send(&value, 4, bytes(), 0, 0, world.comm(2)).ok());
  ASSERT_TRUE(world.finish(alive).ok());
}

class FailureInTraffic : public testing::TestWithParam<unsigned> {};

// Every operation with the dead process ends, whatever stage it was in; nothing touches freed memory (sanitizers).
TEST_P(FailureInTraffic, EverythingEnds) {
  LoopOptions options;
  options.seed = GetParam();
  options.again = 0.3;
  options.delay = 0.4;
  options.room = 4;
  options.get = GetParam() % 2 == 0;
  options.get_pending = 0.5;
  World world(2, options);
  std::mt19937 random(GetParam());
  std::vector<std::vector<std::byte>> buffers;
  buffers.reserve(240);
  std::vector<Request*> mine;
  for (int i = 0; i < 60; ++i) {
    const auto size = static_cast<MPI_Count>(random() % 6000);
    for (const int rank : {0, 1}) {
      auto& out = buffers.emplace_back(6000);
      auto& in = buffers.emplace_back(6000);
      Request *send = nullptr, *receive = nullptr;
      const Status sent = p2p::isend(out.data(), size, bytes(), 1 - rank, i, world.comm(rank), &send);
      const Status posted = p2p::irecv(in.data(), 6000, bytes(), 1 - rank, i, world.comm(rank), &receive);
      if (rank == 0 && sent.ok()) mine.push_back(send);
      if (rank == 0 && posted.ok()) mine.push_back(receive);
    }
    if (i % 3 == 0) world.poll();
    if (i == 40) world.network().kill(1);
  }
  for (Request* request : mine) {
    ASSERT_TRUE(world.poll_until([request] { return request->complete(); }));
    Request* handle = request;
    const Status outcome = p2p::wait(&handle, MPI_STATUS_IGNORE);
    EXPECT_TRUE(outcome.ok() || outcome.mpi_class() == MPI_ERR_PROC_ABORTED) << outcome.text();
  }
  EXPECT_EQ(world[0].others->exposed, world[0].others->unexposed);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FailureInTraffic, testing::Range(1u, 21u));

}  // namespace
}  // namespace ashlar::test
