#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/unit/p2p/world.h"

namespace ashlar::test {
namespace {

// Of messages that the network matches none may be lost without a word: a receive that waits long has the peer tell how
// many it has sent. A receive for which nothing was sent waits on, however long.
TEST(NativeMatching, NamesAPeerWhoseMessageWasLost) {
  LoopOptions options;
  options.tags = true;
  options.max_short = 64;
  World complete(2, options);
  options.lose_tagged = 2;
  World loses(2, options);
  constexpr int kMessages = 3;
  int in[kMessages] = {}, later = 0;
  Request *receives[kMessages], *waiting = nullptr;
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(p2p::irecv(&in[i], 4, bytes(), 1, 5, loses.comm(0), &receives[i]).ok());
    ASSERT_TRUE(p2p::send(&i, 4, bytes(), 0, 5, loses.comm(1)).ok());
    ASSERT_TRUE(p2p::send(&i, 4, bytes(), 0, 5, complete.comm(1)).ok());
    EXPECT_TRUE(p2p::recv(&later, 4, bytes(), 1, 5, complete.comm(0), MPI_STATUS_IGNORE).ok());
  }
  ASSERT_TRUE(p2p::irecv(&later, 4, bytes(), 1, 5, complete.comm(0), &waiting).ok());
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!receives[kMessages - 1]->complete() && std::chrono::steady_clock::now() < end) {
    loses.poll();
    complete.poll();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(loses.finish(receives[0]).ok());
  EXPECT_TRUE(loses.finish(receives[1]).ok());
  EXPECT_EQ(in[1], 2) << "the second message was not the lost one";
  const Status lost = loses.finish(receives[2]);
  EXPECT_EQ(lost.mpi_class(), MPI_ERR_PROC_ABORTED);
  EXPECT_NE(std::string(lost.text()).find("of its 3 messages that the network matches, 1 were lost on the way"),
            std::string::npos)
      << lost.text();

  EXPECT_FALSE(waiting->complete());
  const int value = 8;
  ASSERT_TRUE(p2p::send(&value, 4, bytes(), 0, 5, complete.comm(1)).ok());
  EXPECT_TRUE(complete.finish(waiting).ok());
  EXPECT_EQ(later, 8);
}

}  // namespace
}  // namespace ashlar::test
