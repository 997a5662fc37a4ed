#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "framework/object/handle.h"
#include "framework/object/status_fields.h"
#include "tests/unit/p2p/world.h"

namespace ashlar::test {
namespace {

/// Two processes; process 0 receives what process 1 sends.
class Completion : public testing::Test {
 protected:
  MPI_Request receive(int tag, int room = 4) {
    Request* request = nullptr;
    EXPECT_TRUE(p2p::irecv(&in[static_cast<std::size_t>(tag)], room, bytes(), 1, tag, world.comm(0), &request).ok());
    return to_handle<MPI_Request>(request);
  }
  void send(int tag, int size = 4) {
    const int value[2] = {tag * 10, 0};
    EXPECT_TRUE(p2p::send(value, size, bytes(), 0, tag, world.comm(1)).ok());
  }
  World world{2};
  std::array<int, 16> in{};
};

void expect_empty(const MPI_Status& status) {
  EXPECT_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
  EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
  EXPECT_EQ(status.MPI_ERROR, MPI_SUCCESS);
  EXPECT_EQ(bytes_of(status), 0);
  EXPECT_FALSE(cancelled_of(status));
}

TEST_F(Completion, WaitAllLeavesErrorFieldsAloneWhenAllIsWell) {
  MPI_Request requests[3] = {receive(0), MPI_REQUEST_NULL, receive(1)};
  send(1);
  send(0);
  MPI_Status statuses[3];
  for (MPI_Status& status : statuses) status.MPI_ERROR = 77;
  ASSERT_TRUE(p2p::wait_all(3, requests, statuses).ok());
  EXPECT_EQ(statuses[0].MPI_TAG, 0);
  EXPECT_EQ(statuses[2].MPI_TAG, 1);
  EXPECT_EQ(statuses[0].MPI_ERROR, 77);
  EXPECT_EQ(statuses[2].MPI_ERROR, 77);
  expect_empty(statuses[1]);
  for (MPI_Request request : requests) EXPECT_EQ(request, MPI_REQUEST_NULL);
  EXPECT_EQ(in[1], 10);
}

TEST_F(Completion, WaitAllReportsFailuresInStatus) {
  MPI_Request requests[3] = {receive(0), receive(1), receive(2)};
  send(0);
  send(1, 8);
  send(2);
  MPI_Status statuses[3];
  for (MPI_Status& status : statuses) status.MPI_ERROR = 77;
  const Status outcome = p2p::wait_all(3, requests, statuses);
  EXPECT_EQ(outcome.mpi_class(), MPI_ERR_IN_STATUS);
  EXPECT_NE(std::string(outcome.text()).find("request 1 failed: message of 8 bytes"), std::string::npos)
      << outcome.text();
  EXPECT_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
  EXPECT_EQ(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
  EXPECT_EQ(statuses[2].MPI_ERROR, MPI_SUCCESS);

  MPI_Request again[1] = {receive(1)};
  send(1, 8);
  EXPECT_EQ(p2p::wait_all(1, again, MPI_STATUSES_IGNORE).mpi_class(), MPI_ERR_TRUNCATE);
}

TEST_F(Completion, TestAllTakesAllOrNothing) {
  MPI_Request requests[2] = {receive(0), receive(1)};
  const MPI_Request before[2] = {requests[0], requests[1]};
  send(1);
  int flag = 1;
  ASSERT_TRUE(p2p::test_all(2, requests, &flag, MPI_STATUSES_IGNORE).ok());
  EXPECT_EQ(flag, 0);
  EXPECT_EQ(requests[0], before[0]);
  EXPECT_EQ(requests[1], before[1]);
  send(0);
  MPI_Status statuses[2];
  ASSERT_TRUE(p2p::test_all(2, requests, &flag, statuses).ok());
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(statuses[1].MPI_TAG, 1);
  EXPECT_EQ(requests[0], MPI_REQUEST_NULL);
}

TEST_F(Completion, AnyOfNothingIsUndefined) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  int index = 0, flag = 0;
  ASSERT_TRUE(p2p::wait_any(2, requests, &index, &status).ok());
  EXPECT_EQ(index, MPI_UNDEFINED);
  expect_empty(status);
  ASSERT_TRUE(p2p::test_any(2, requests, &index, &flag, &status).ok());
  EXPECT_EQ(index, MPI_UNDEFINED);
  EXPECT_EQ(flag, 1);
  int count = 0, indices[2];
  ASSERT_TRUE(p2p::wait_some(2, requests, &count, indices, MPI_STATUSES_IGNORE).ok());
  EXPECT_EQ(count, MPI_UNDEFINED);
  ASSERT_TRUE(p2p::test_some(2, requests, &count, indices, MPI_STATUSES_IGNORE).ok());
  EXPECT_EQ(count, MPI_UNDEFINED);
  ASSERT_TRUE(p2p::wait_any(0, nullptr, &index, &status).ok());
  EXPECT_EQ(index, MPI_UNDEFINED);
}

TEST_F(Completion, AnyTakesOne) {
  MPI_Request requests[3] = {receive(0), receive(1), receive(2)};
  int index = -1, flag = 1;
  MPI_Status status;
  ASSERT_TRUE(p2p::test_any(3, requests, &index, &flag, &status).ok());
  EXPECT_EQ(flag, 0);
  EXPECT_EQ(index, MPI_UNDEFINED);
  send(1);
  ASSERT_TRUE(p2p::wait_any(3, requests, &index, &status).ok());
  EXPECT_EQ(index, 1);
  EXPECT_EQ(status.MPI_TAG, 1);
  EXPECT_EQ(requests[1], MPI_REQUEST_NULL);
  send(0);
  send(2);
  ASSERT_TRUE(p2p::test_any(3, requests, &index, &flag, &status).ok());
  EXPECT_EQ(flag, 1);
  ASSERT_TRUE(p2p::wait_any(3, requests, &index, &status).ok());
}

// Whatever is complete is given out: a request late in the array is not kept waiting by early ones that always
// complete.
TEST_F(Completion, SomeIsFair) {
  MPI_Request requests[3] = {receive(0), receive(1), receive(2)};
  for (int round = 0; round < 20; ++round) {
    send(0);
    send(1);
    if (round % 5 == 4) send(2);
    int count = 0, indices[3];
    MPI_Status statuses[3];
    ASSERT_TRUE(p2p::wait_some(3, requests, &count, indices, statuses).ok());
    EXPECT_EQ(count, round % 5 == 4 ? 3 : 2);
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(indices[i], i);
      EXPECT_EQ(statuses[i].MPI_TAG, i);
      EXPECT_EQ(requests[i], MPI_REQUEST_NULL);
      requests[i] = receive(i);
    }
    ASSERT_TRUE(p2p::test_some(3, requests, &count, indices, statuses).ok());
    EXPECT_EQ(count, 0);
  }
}

TEST_F(Completion, SomeReportsFailuresInStatus) {
  MPI_Request requests[2] = {receive(0), receive(1)};
  send(0);
  send(1, 8);
  int count = 0, indices[2];
  MPI_Status statuses[2];
  const Status outcome = p2p::wait_some(2, requests, &count, indices, statuses);
  EXPECT_EQ(outcome.mpi_class(), MPI_ERR_IN_STATUS);
  ASSERT_EQ(count, 2);
  EXPECT_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
  EXPECT_EQ(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
}

TEST_F(Completion, GetStatusLeavesTheRequest) {
  MPI_Request handle = receive(3);
  Request* request = resolve(handle);
  int flag = 1;
  MPI_Status status;
  ASSERT_TRUE(p2p::request_get_status(request, &flag, &status).ok());
  EXPECT_EQ(flag, 0);
  send(3);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(p2p::request_get_status(request, &flag, &status).ok());
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(status.MPI_TAG, 3);
  }
  ASSERT_TRUE(p2p::wait(&request, &status).ok());
  ASSERT_TRUE(p2p::request_get_status(nullptr, &flag, &status).ok());
  EXPECT_EQ(flag, 1);
  expect_empty(status);

  MPI_Request two[2] = {receive(4), receive(5)};
  send(5);
  int index = 0, count = 0, indices[2];
  ASSERT_TRUE(p2p::request_get_status_any(2, two, &index, &flag, &status).ok());
  EXPECT_EQ(index, 1);
  ASSERT_TRUE(p2p::request_get_status_some(2, two, &count, indices, MPI_STATUSES_IGNORE).ok());
  EXPECT_EQ(count, 1);
  EXPECT_EQ(indices[0], 1);
  ASSERT_TRUE(p2p::request_get_status_all(2, two, &flag, MPI_STATUSES_IGNORE).ok());
  EXPECT_EQ(flag, 0);
  send(4);
  ASSERT_TRUE(p2p::request_get_status_all(2, two, &flag, MPI_STATUSES_IGNORE).ok());
  EXPECT_EQ(flag, 1);
  ASSERT_TRUE(p2p::wait_all(2, two, MPI_STATUSES_IGNORE).ok());
}

TEST_F(Completion, FreedActiveRequestsCompleteByThemselves) {
  Request* request = resolve(receive(0));
  ASSERT_TRUE(p2p::request_free(&request).ok());
  EXPECT_EQ(request, nullptr);
  send(0);
  world[0].poll();
  std::vector<std::byte> large(50000);
  ASSERT_TRUE(p2p::isend(large.data(), 50000, bytes(), 1, 2, world.comm(0), &request).ok());
  ASSERT_TRUE(p2p::request_free(&request).ok());
  std::vector<std::byte> got(50000, std::byte{1});
  Request* receiving = nullptr;
  ASSERT_TRUE(p2p::irecv(got.data(), 50000, bytes(), 0, 2, world.comm(1), &receiving).ok());
  ASSERT_TRUE(world.finish(receiving).ok());
  EXPECT_EQ(got, large);
  for (int i = 0; i < 5; ++i) world.poll();
  // Its storage is back in use for the next one.
  Request* next = nullptr;
  ASSERT_TRUE(p2p::irecv(got.data(), 4, bytes(), 1, 9, world.comm(0), &next).ok());
  send(9);
  ASSERT_TRUE(world.finish(next).ok());
}

TEST_F(Completion, PersistentRequestsComeBackInactive) {
  Request *sending = nullptr, *receiving = nullptr;
  std::vector<int> out(3000), got(3000);
  ASSERT_TRUE(p2p::send_init(out.data(), 12000, bytes(), 0, 5, world.comm(1), &sending).ok());
  ASSERT_TRUE(p2p::recv_init(got.data(), 12000, bytes(), MPI_ANY_SOURCE, 5, world.comm(0), &receiving).ok());
  MPI_Status status;
  ASSERT_TRUE(p2p::wait(&receiving, &status).ok());
  expect_empty(status);
  for (int round = 1; round <= 3; ++round) {
    out.assign(3000, round);
    ASSERT_TRUE(p2p::start(&sending).ok());
    MPI_Request handles[1] = {to_handle<MPI_Request>(receiving)};
    ASSERT_TRUE(p2p::start_all(1, handles).ok());
    EXPECT_EQ(p2p::start(&sending).mpi_class(), MPI_ERR_REQUEST) << "already active";
    ASSERT_TRUE(world.complete(receiving));
    ASSERT_TRUE(world.complete(sending));
    ASSERT_TRUE(p2p::wait(&receiving, &status).ok());
    EXPECT_EQ(status.MPI_SOURCE, 1);
    EXPECT_EQ(bytes_of(status), 12000);
    ASSERT_TRUE(p2p::wait(&sending, MPI_STATUS_IGNORE).ok());
    ASSERT_NE(receiving, nullptr);
    ASSERT_NE(sending, nullptr);
    EXPECT_EQ(got, out);
  }
  ASSERT_TRUE(p2p::request_free(&sending).ok());
  ASSERT_TRUE(p2p::request_free(&receiving).ok());
}

TEST_F(Completion, CancelledReceivesNeverTakeAMessage) {
  Request* request = resolve(receive(0));
  ASSERT_TRUE(p2p::cancel(request).ok());
  MPI_Status status;
  ASSERT_TRUE(p2p::wait(&request, &status).ok());
  int flag = 0;
  ASSERT_TRUE(p2p::test_cancelled(&status, &flag).ok());
  EXPECT_EQ(flag, 1);
  send(0);
  Request* next = resolve(receive(0));
  ASSERT_TRUE(p2p::wait(&next, &status).ok());
  EXPECT_EQ(in[0], 0);
  ASSERT_TRUE(p2p::test_cancelled(&status, &flag).ok());
  EXPECT_EQ(flag, 0);

  Request* matched = resolve(receive(1));
  send(1);
  world[0].poll();
  ASSERT_TRUE(p2p::cancel(matched).ok());
  ASSERT_TRUE(p2p::wait(&matched, &status).ok());
  EXPECT_FALSE(cancelled_of(status)) << "either cancelled or delivered, never both";
  EXPECT_EQ(in[1], 10);
}

TEST_F(Completion, CountsOfAStatus) {
  MPI_Status status;
  fill_status(&status, 0, 0, 12);
  MPI_Count count = 0;
  ASSERT_TRUE(p2p::get_count(&status, datatype::predefined(MPI_INT), &count).ok());
  EXPECT_EQ(count, 3);
  ASSERT_TRUE(p2p::get_count(&status, datatype::predefined(MPI_DOUBLE), &count).ok());
  EXPECT_EQ(count, MPI_UNDEFINED);
}

TEST_F(Completion, GatesOpenWhenTheLastOperationIsOver) {
  std::vector<std::byte> large(30000, std::byte{7}), got(30000);
  int ran = 0;
  struct Counting : Waiter {
    int* ran;
  } waiter;
  waiter.lane = &world[0].lane;
  waiter.ran = &ran;
  waiter.run = [](Waiter& w) { ++*static_cast<Counting&>(w).ran; };
  Gate gate, sending;
  {
    const LaneGuard guard(world.comm(0).lane->lock);
    ASSERT_TRUE(p2p::post_recv(world.comm(0), DataView{&in[0], 4, &bytes()}, 1, 3, gate).ok());
    ASSERT_TRUE(p2p::post_recv(world.comm(0), DataView{got.data(), 30000, &bytes()}, 1, 4, gate).ok());
    ASSERT_FALSE(gate.open());
    gate.on_open(waiter);
  }
  send(3);  // point-to-point traffic of the same tag is another context
  {
    const LaneGuard guard(world.comm(1).lane->lock);
    const int value = 42;
    ASSERT_TRUE(p2p::post_send(world.comm(1), DataView::of(&value, 4, bytes()), 0, 3, sending).ok());
    EXPECT_TRUE(sending.open()) << "what has left is not counted";
    ASSERT_TRUE(p2p::post_send(world.comm(1), DataView::of(large.data(), 30000, bytes()), 0, 4, sending).ok());
    EXPECT_FALSE(sending.open());
  }
  ASSERT_TRUE(world.poll_until([&] { return ran != 0; }));
  EXPECT_TRUE(gate.open());
  EXPECT_TRUE(gate.status().ok());
  EXPECT_EQ(in[0], 42);
  EXPECT_EQ(got, large);
  ASSERT_TRUE(world.poll_until([&] { return sending.open(); }));
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace ashlar::test
