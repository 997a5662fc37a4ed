#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "framework/object/status_fields.h"
#include "tests/unit/p2p/faults.h"
#include "tests/unit/p2p/world.h"

namespace ashlar::test {
namespace {

struct Sent {
  Request* request;
  int value, tag;
  bool cancelling = false, received = false;
};

class Recall : public testing::TestWithParam<unsigned> {};

// Every message is either cancelled or received, whatever the two sides do to each other's messages meanwhile.
TEST_P(Recall, NeverBothAndNeverNeither) {
  World world(2, faults(GetParam()));
  std::mt19937 random(GetParam());
  std::vector<Sent> sent;
  std::vector<std::array<int, 500>> out(400);
  const auto receive_one = [&](int tag) {
    std::array<int, 500> in;
    int flag = 0;
    if (!p2p::iprobe(0, tag, world.comm(1), &flag, MPI_STATUS_IGNORE).ok() || !flag) return;
    Request* receive = nullptr;
    ASSERT_TRUE(p2p::irecv(in.data(), sizeof in, bytes(), 0, tag, world.comm(1), &receive).ok());
    ASSERT_TRUE(world.finish(receive).ok());
    Sent& which = sent[static_cast<std::size_t>(in[0])];
    EXPECT_EQ(which.tag, tag);
    EXPECT_FALSE(which.received);
    which.received = true;
    for (const Sent& other : sent) {
      const bool passed = other.tag == tag && other.value < which.value && !other.received;
      EXPECT_TRUE(!passed || other.cancelling) << "message " << which.value << " overtook " << other.value;
    }
  };
  for (int i = 0; i < 400; ++i) {
    auto& data = out[static_cast<std::size_t>(i)];
    data.fill(i);
    const MPI_Count size = random() % 2 ? 4 : 2000;
    Sent one{nullptr, i, static_cast<int>(random() % 3)};
    const auto start = random() % 4 == 0 ? p2p::issend : p2p::isend;
    ASSERT_TRUE(start(data.data(), size, bytes(), 1, one.tag, world.comm(0), &one.request).ok());
    sent.push_back(one);
    if (random() % 2) world.poll();
    if (random() % 3 == 0) receive_one(static_cast<int>(random() % 3));
    if (random() % 2 == 0) {
      Sent& which = sent[sent.size() - 1 - random() % std::min<std::size_t>(sent.size(), 20)];
      if (which.request != nullptr) {
        which.cancelling = true;
        ASSERT_TRUE(p2p::cancel(which.request).ok());
      }
    }
    // Some are completed at once, so that their requests are used again.
    Sent& early = sent[random() % sent.size()];
    if (random() % 4 == 0 && early.request != nullptr && early.request->complete()) {
      MPI_Status status;
      ASSERT_TRUE(p2p::wait(&early.request, &status).ok());
      EXPECT_FALSE(cancelled_of(status) && early.received);
      if (cancelled_of(status)) early.received = true;
    }
  }
  // What was not cancelled comes; an answer for what was is on its way.
  for (int round = 0; round < 500; ++round) {
    world.poll();
    for (int tag = 0; tag < 3; ++tag) receive_one(tag);
  }
  for (Sent& one : sent) {
    if (one.request != nullptr) {
      MPI_Status status;
      ASSERT_TRUE(world.complete(one.request));
      ASSERT_TRUE(p2p::wait(&one.request, &status).ok());
      EXPECT_NE(cancelled_of(status), one.received) << "message " << one.value;
      EXPECT_TRUE(!cancelled_of(status) || one.cancelling);
    } else {
      EXPECT_TRUE(one.received) << "message " << one.value;
    }
  }
}

TEST(CancelledReceive, TakesWhatIsThereAlready) {
  World world(2);
  const int out = 4;
  int in = 0, tries = 0;
  ASSERT_TRUE(p2p::send(&out, 4, bytes(), 1, 0, world.comm(0)).ok());
  MPI_Status status;
  do {  // no other call makes progress here
    Request* receive = nullptr;
    ASSERT_TRUE(p2p::irecv(&in, 4, bytes(), 0, 0, world.comm(1), &receive).ok());
    ASSERT_TRUE(p2p::cancel(receive).ok());
    ASSERT_TRUE(p2p::wait(&receive, &status).ok());
  } while (cancelled_of(status) && ++tries < 1000);
  EXPECT_FALSE(cancelled_of(status));
  EXPECT_EQ(in, 4);
}

// However many have left: each can be called back.
TEST_P(Recall, AsManyAsTheProgramHas) {
  World world(2, faults(GetParam()));
  constexpr int kMany = 1000;
  std::vector<int> out(kMany);
  std::vector<Request*> sends(kMany);
  std::vector<bool> called(kMany);
  for (int i = 0; i < kMany; ++i) {
    const auto at = static_cast<std::size_t>(i);
    out[at] = i;
    ASSERT_TRUE(p2p::isend(&out[at], 4, bytes(), 1, 0, world.comm(0), &sends[at]).ok());
    if (i % 50 == 0) world.poll();
  }
  for (std::size_t i = 0; i < kMany; ++i) {
    called[i] = i % 3 != 0;
    if (called[i]) {
      ASSERT_TRUE(p2p::cancel(sends[i]).ok());
    }
  }
  for (std::size_t i = 0; i < kMany; ++i) {
    MPI_Status status;
    ASSERT_TRUE(world.finish(sends[i], &status).ok());
    EXPECT_EQ(cancelled_of(status), called[i]) << "no receive has asked for message " << i;
    if (called[i]) continue;
    int in = -1;
    Request* receive = nullptr;
    ASSERT_TRUE(p2p::irecv(&in, 4, bytes(), 0, 0, world.comm(1), &receive).ok());
    ASSERT_TRUE(world.finish(receive).ok());
    EXPECT_EQ(in, static_cast<int>(i));
  }
}

TEST_P(Recall, ADeadReceiverEndsIt) {
  World world(2, faults(GetParam()));
  int value = 7;
  std::array<Request*, 3> requests{};
  for (Request*& r : requests) ASSERT_TRUE(p2p::isend(&value, 4, bytes(), 1, 0, world.comm(0), &r).ok());
  ASSERT_TRUE(p2p::cancel(requests[0]).ok());
  world.network().kill(1);
  ASSERT_TRUE(p2p::cancel(requests[1]).ok());
  for (int i = 0; i < 10; ++i) world[0].poll();
  ASSERT_TRUE(p2p::cancel(requests[2]).ok());
  for (Request* r : requests) {
    ASSERT_TRUE(world.poll_until([r] { return r->complete(); }));
    Request* handle = r;
    const Status outcome = p2p::wait(&handle, MPI_STATUS_IGNORE);
    EXPECT_TRUE(outcome.ok() || outcome.mpi_class() == MPI_ERR_PROC_ABORTED) << outcome.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Recall, testing::Range(1u, 41u));

/// Messages that wait unexpectedly at rank 1, one of each communicator.
class GiveUp : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(p2p::send(&value_, sizeof value_, bytes(), 1, 5, world_.comm(0)).ok());
    ASSERT_TRUE(world_.poll_until([this] { return waits(); }));
  }
  bool waits() {
    int flag = 0;
    EXPECT_TRUE(p2p::iprobe(0, 5, world_.comm(1), &flag, MPI_STATUS_IGNORE).ok());
    return flag != 0;
  }
  bool give_up_all_but(std::uint32_t context) {
    const LaneGuard guard(world_[1].lane.lock);
    return p2p::give_up_all(world_[1].lane, context);
  }
  World world_{2};
  int value_ = 7;
};

// A process that comes to rest between two sessions must not drop what a peer, already in the next one, has sent it.
TEST_F(GiveUp, KeepsTheCommunicatorThatLivesOn) {
  EXPECT_TRUE(give_up_all_but(world_.comm(1).context));
  EXPECT_TRUE(waits());
  int received = 0;
  ASSERT_TRUE(p2p::recv(&received, sizeof received, bytes(), 0, 5, world_.comm(1), MPI_STATUS_IGNORE).ok());
  EXPECT_EQ(received, 7);
}

TEST_F(GiveUp, DropsAllOthers) {
  (void)give_up_all_but(world_.comm(1).context + 2);
  EXPECT_FALSE(waits());
}

}  // namespace
}  // namespace ashlar::test
