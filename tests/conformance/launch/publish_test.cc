// What ranks publish for each other through a launch component, and when the others see it.
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/conformance/check/verdict.h"
#include "tests/conformance/launch/rank.h"

namespace ashlar::test {
namespace {

/// Different of every rank and key.
std::string value_of(std::uint32_t rank, std::size_t bytes) {
  std::string value(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) value[i] = static_cast<char>(rank * 31 + bytes * 7 + i);
  return value;
}

TEST_P(Job, WhatIsPutBeforeAFenceIsReadByEveryRankAfterIt) {
  constexpr std::size_t kSizes[] = {0, 1, 8, 100, 1000};
  for (const std::size_t bytes : kSizes)
    ASSERT_TRUE(put("check." + std::to_string(bytes), value_of(job().rank, bytes)));
  ASSERT_TRUE(fence());
  for (std::uint32_t rank = 0; rank < job().ranks; ++rank)
    for (const std::size_t bytes : kSizes)
      EXPECT_TRUE(has(rank, "check." + std::to_string(bytes), value_of(rank, bytes)));
}

TEST_P(Job, AKeyWithoutAValueIsNotFound) {
  ASSERT_TRUE(put("check.there", "x"));
  ASSERT_TRUE(fence());
  for (std::uint32_t rank = 0; rank < job().ranks; ++rank) {
    char value[8];
    std::size_t bytes = sizeof value;
    EXPECT_EQ(ops().get(launch(), rank, "check.absent", value, &bytes), ASHLAR_LAUNCH_NOT_FOUND);
    const void* seen = nullptr;
    if (ops().view) {
      EXPECT_EQ(ops().view(launch(), rank, "check.absent", &seen, &bytes), ASHLAR_LAUNCH_NOT_FOUND);
    }
  }
}

TEST_P(Job, ASmallBufferGetsTheSizeAndIsNotOverrun) {
  ASSERT_TRUE(put("check.long", value_of(job().rank, 50)));
  ASSERT_TRUE(fence());
  for (std::uint32_t rank = 0; rank < job().ranks; ++rank) {
    std::string value(100, '?');
    std::size_t bytes = 49;
    EXPECT_TRUE(fails(ops().get(launch(), rank, "check.long", value.data(), &bytes), ASHLAR_ERR_TRUNCATE));
    EXPECT_EQ(bytes, 50u) << "*bytes is the value's size when the buffer is too small";
    EXPECT_EQ(value.substr(49), std::string(51, '?')) << "it writes behind the buffer";
  }
}

TEST_P(Job, AViewStaysWhatItIs) {
  if (!ops().view) GTEST_SKIP() << "it has no view()";
  ASSERT_TRUE(put("check.first", value_of(job().rank, 12)));
  ASSERT_TRUE(fence());
  std::vector<const char*> views(job().ranks);
  for (std::uint32_t rank = 0; rank < job().ranks; ++rank) {
    const void* seen = nullptr;
    std::size_t bytes = 0;
    ASSERT_TRUE(right(ops().view(launch(), rank, "check.first", &seen, &bytes)));
    ASSERT_EQ(bytes, 12u);
    views[rank] = static_cast<const char*>(seen);
  }
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(put("check.later." + std::to_string(i), value_of(job().rank, 13)));
  ASSERT_TRUE(fence());
  for (std::uint32_t rank = 0; rank < job().ranks; ++rank) {
    const void* again = nullptr;
    std::size_t bytes = 0;
    ASSERT_TRUE(right(ops().view(launch(), rank, "check.first", &again, &bytes)));
    // Before the memory is read, which may be gone.
    ASSERT_EQ(again, views[rank]) << "the view of rank " << rank << " has moved; it lives until finalize";
    EXPECT_EQ(std::string(views[rank], 12), value_of(rank, 12));
  }
}

TEST_P(Job, WhatIsPutIsSeenWithoutAFence) {
  if (!can(ASHLAR_LAUNCH_IMMEDIATE)) GTEST_SKIP() << "it does not have ASHLAR_LAUNCH_IMMEDIATE";
  ASSERT_TRUE(put("check.now", value_of(job().rank, 8)));
  for (std::uint32_t rank = 0; rank < job().ranks; ++rank) {
    char value[8];
    std::size_t bytes = sizeof value;
    while (ops().get(launch(), rank, "check.now", value, &bytes) == ASHLAR_LAUNCH_NOT_FOUND) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      bytes = sizeof value;
    }
    EXPECT_TRUE(has(rank, "check.now", value_of(rank, 8)));
  }
  ASSERT_TRUE(fence());
}

TEST_P(Job, AFenceWaitsForTheLastRank) {
  for (std::uint32_t round = 0; round < 12; ++round) {
    const std::uint32_t last = round % job().ranks;
    const std::string key = "check.round." + std::to_string(round);
    if (job().rank == last) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ASSERT_TRUE(put(key, value_of(round, 4)));
    }
    ASSERT_TRUE(fence());
    EXPECT_TRUE(has(last, key, value_of(round, 4)));
  }
}

TEST_P(Job, ManyBarriers) {
  for (int round = 0; round < 200; ++round) {
    ASSERT_TRUE(right(ops().barrier(launch(), -1))) << "barrier " << round;
    ops().poll(launch());
  }
}

TEST_P(Job, ABarrierThatIsLateIsCalledAgain) {
  if (job().ranks == 1) GTEST_SKIP() << "one rank waits for no other";
  ASSERT_TRUE(fence());
  if (job().rank == 0) {
    for (std::uint32_t rank = 1; rank < job().ranks; ++rank) wait_for_mark("late", rank);
    ASSERT_TRUE(right(ops().barrier(launch(), -1)));
    return;
  }
  ashlar_result result = ops().barrier(launch(), 50);
  EXPECT_EQ(result, ASHLAR_LAUNCH_TIMED_OUT) << "rank 0 has not entered yet";
  EXPECT_TRUE(fails(ops().report_timeout(launch()), ASHLAR_ERR_OTHER));
  mark("late", job().rank);
  while (result == ASHLAR_LAUNCH_TIMED_OUT) result = ops().barrier(launch(), 50);
  EXPECT_TRUE(right(result));
}

TEST_P(Job, ABarrierThatEndsBetweenTwoCallsHasEnded) {
  if (job().ranks == 1) GTEST_SKIP() << "one rank waits for no other";
  ASSERT_TRUE(fence());
  if (job().rank == 0) {
    for (std::uint32_t rank = 1; rank < job().ranks; ++rank) wait_for_mark("entered", rank);
    ASSERT_TRUE(right(ops().barrier(launch(), -1)));
    mark("through", 0);
    return;
  }
  EXPECT_EQ(ops().barrier(launch(), 50), ASHLAR_LAUNCH_TIMED_OUT) << "rank 0 has not entered yet";
  mark("entered", job().rank);
  wait_for_mark("through", 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // by now this rank, too, may have been told
  EXPECT_TRUE(right(ops().barrier(launch(), -1)));
}

TEST_P(Job, AKeyIsReadWhileABarrierIsLate) {
  if (job().ranks == 1) GTEST_SKIP() << "one rank waits for no other";
  ASSERT_TRUE(put("check.early", value_of(job().rank, 700)));
  ASSERT_TRUE(fence());
  if (job().rank == 0) {
    for (std::uint32_t rank = 1; rank < job().ranks; ++rank) wait_for_mark("read", rank);
    ASSERT_TRUE(right(ops().barrier(launch(), -1)));
    return;
  }
  // As in MPI_Finalize: a rank that waits for the others may still have to answer one that it has not talked to yet.
  ashlar_result result = ops().barrier(launch(), 0);
  EXPECT_EQ(result, ASHLAR_LAUNCH_TIMED_OUT) << "rank 0 has not entered yet";
  for (std::uint32_t rank = 0; rank < job().ranks; ++rank) EXPECT_TRUE(has(rank, "check.early", value_of(rank, 700)));
  mark("read", job().rank);
  while (result == ASHLAR_LAUNCH_TIMED_OUT) result = ops().barrier(launch(), 50);
  EXPECT_TRUE(right(result));
}

}  // namespace
}  // namespace ashlar::test
