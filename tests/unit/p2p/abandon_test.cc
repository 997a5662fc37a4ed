// A collective that cannot send gives up the receives that nothing has matched: what they wait for may never be sent.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/coll/block.h"
#include "framework/coll/call.h"
#include "framework/coll/op.h"
#include "framework/coll/p2p_wire.h"
#include "tests/unit/p2p/world.h"

namespace ashlar::test {
namespace {

DataView view(void* data, MPI_Count count) { return {data, count, &bytes()}; }

TEST(Abandon, TakesUnmatchedReceivesOfThatGateOnly) ASHLAR_NO_THREAD_SAFETY {
  LoopOptions options;
  options.get_pending = 1;  // reads end in a later round
  World world(3, options);
  Lane& lane = world[0].lane;
  Gate failed, other;
  int unmatched = -1, elsewhere = -1;
  std::vector<std::byte> large(100000), out(100000, std::byte{7});
  ASSERT_TRUE(p2p::post_recv(world.comm(0), view(&unmatched, 4), 1, 1, failed).ok());
  ASSERT_TRUE(p2p::post_recv(world.comm(0), view(large.data(), 100000), 2, 2, failed).ok());
  ASSERT_TRUE(p2p::post_recv(world.comm(0), view(&elsewhere, 4), 1, 3, other).ok());
  // The large one is matched, and its sender's memory may be read from now on: that has to come to an end.
  Gate sending;
  ASSERT_TRUE(p2p::post_send(world.comm(2), view(out.data(), 100000), 0, 2, sending).ok());
  world[0].poll();
  ASSERT_EQ(failed.outstanding(), 2);

  p2p::abandon(lane, failed);
  EXPECT_EQ(failed.outstanding(), 1);
  EXPECT_EQ(other.outstanding(), 1);
  EXPECT_TRUE(world.poll_until([&] { return failed.open() && sending.open(); }));
  EXPECT_EQ(large, out);

  // What is sent afterwards finds no receive of ours, and no buffer.
  const int value = 5;
  Gate late;
  ASSERT_TRUE(p2p::post_send(world.comm(1), DataView::of(&value, 4, bytes()), 0, 1, late).ok());
  ASSERT_TRUE(p2p::post_send(world.comm(1), DataView::of(&value, 4, bytes()), 0, 3, late).ok());
  EXPECT_TRUE(world.poll_until([&] { return other.open() && late.open(); }));
  EXPECT_EQ(unmatched, -1);
  EXPECT_EQ(elsewhere, 5);
  EXPECT_TRUE(other.status().ok());
}

// Receives from one rank, which never sends, and sends to another, which is gone.
coll::Co exchange(coll::Op& op, const coll::Call& call) {
  Gate gate;
  Status st;
  op.recv(1, call.recv, gate);
  op.send(2, call.send, gate);
  st = co_await gate;
  co_return st;
}

class FailedSend : public testing::TestWithParam<bool> {};

TEST_P(FailedSend, EndsTheCollectiveAtOnce) ASHLAR_NO_THREAD_SAFETY {
  World world(3);
  int in = -1, out = 3;
  world.network().kill(2);
  for (int i = 0; i < 5; ++i) world[0].poll();

  coll::P2pWire wire(world.comm(0));
  coll::ChunkCache chunks;
  alignas(64) std::byte memory[1024];
  coll::Block block(memory, sizeof memory, chunks);
  coll::Op op(wire, 0, 3, 11, block, GetParam());
  coll::Call call;
  call.recv = view(&in, 4);
  call.send = view(&out, 4);
  const coll::Co co = exchange(op, call);  // the blocking form would never come back
  ASSERT_TRUE(co.started());
  for (int i = 0; i < 5 && !co.done(); ++i) world[0].poll();
  ASSERT_TRUE(co.done());
  EXPECT_EQ(co.status().mpi_class(), MPI_ERR_PROC_ABORTED);
  EXPECT_NE(std::string(co.status().text()).find("process 2 is gone"), std::string::npos) << co.status().text();

  // Nothing of it is left in the queues: a message for it is kept as unexpected.
  const int value = 5;
  Gate late;
  ASSERT_TRUE(p2p::post_send(world.comm(1), DataView::of(&value, 4, bytes()), 0, 11, late).ok());
  for (int i = 0; i < 20; ++i) world.poll();
  EXPECT_EQ(in, -1);
}

INSTANTIATE_TEST_SUITE_P(Forms, FailedSend, testing::Bool(),
                         [](const auto& form) { return form.param ? "Blocking" : "Nonblocking"; });

}  // namespace
}  // namespace ashlar::test
