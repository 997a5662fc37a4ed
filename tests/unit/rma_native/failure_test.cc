#include <gtest/gtest.h>

#include <string>

#include "tests/unit/rma_native/native_world.h"

namespace ashlar::test {
namespace {

LoopOptions failing(double pending) {
  LoopOptions options;
  options.put = options.flush = true;
  options.pieces_most = 8;
  options.put_fails = 1;
  options.put_pending = pending;
  return options;
}

TEST(NativeFailures, OfTheCallAreTheCalls) {
  NativeWorld world(2, 1000, failing(0));
  const std::byte out[10] = {};
  const Status failed = world.put(0, out, view(nullptr, 10), 1, place(0, 10));
  EXPECT_EQ(failed.mpi_class(), MPI_ERR_OTHER);
  EXPECT_NE(std::string(failed.text())
                .find("a put of this process on the memory of rank 1 in window 'halo' failed in the transport"),
            std::string::npos)
      << failed.text();
  EXPECT_TRUE(world.flush(0, 1).ok()) << "it is reported once";
}

TEST(NativeFailures, ThatComeLaterAreReportedByTheNextFlushOnce) {
  NativeWorld world(2, 1000, failing(1));
  const std::byte out[10] = {};
  ASSERT_TRUE(world.put(0, out, view(nullptr, 10), 1, place(0, 10)).ok());
  EXPECT_EQ(world.flush(0, 1).mpi_class(), MPI_ERR_OTHER);
  EXPECT_TRUE(world.flush(0, 1).ok());
}

TEST(NativeFailures, OfOperationsWithARequestAreTheRequests) {
  NativeWorld world(2, 1000, failing(1));
  const std::byte out[10] = {};
  Gate gate;
  ASSERT_TRUE(world.put(0, out, view(nullptr, 10), 1, place(0, 10), &gate).ok());
  EXPECT_FALSE(gate.open());
  EXPECT_TRUE(world.flush(0, 1).ok());
  ASSERT_TRUE(gate.open());
  EXPECT_EQ(gate.status().mpi_class(), MPI_ERR_OTHER);
}

// Of several pieces some are under way when the next one fails.
TEST(NativeFailures, OfAPieceEndTheOperation) {
  for (unsigned seed = 1; seed < 30; ++seed) {
    LoopOptions options = failing(0.5);
    options.seed = seed;
    options.pieces_most = 0;
    options.put_fails = 0.3;
    NativeWorld world(2, 4000, options);
    const auto scattered = vector_of(40, 1, 2, datatype::predefined(MPI_BYTE));
    const std::byte out[40] = {};
    const Status put = world.put(0, out, view(nullptr, 40), 1, {.offset = 0, .count = 1, .type = scattered.get()});
    const Status flushed = world.flush(0, 1);
    EXPECT_NE(put.ok(), flushed.ok()) << "it is reported once";
    EXPECT_EQ(world.native(0).counters.under_way, 0u);
  }
}

TEST(NativeFailures, OfATargetEndWhatIsUnderWayToIt) {
  for (unsigned seed = 2; seed < 20; ++seed) {
    LoopOptions options = remote_faults(seed);
    options.put_pending = 1;
    options.again = 0;
    NativeWorld world(3, 1000, options);
    std::vector<std::byte> out(1000), in(1000);
    Gate put, get, other;
    ASSERT_TRUE(world.put(0, out.data(), view(nullptr, 1000), 1, place(0, 1000), &put).ok());
    ASSERT_TRUE(world.get(0, view(in.data(), 1000), 1, place(0, 1000), &get).ok());
    ASSERT_TRUE(world.put(0, out.data(), view(nullptr, 1000), 2, place(0, 1000), &other).ok());
    world.world.world.network().kill(1);
    ASSERT_TRUE(world.world.world.poll_until([&] { return put.open() && get.open() && other.open(); }));
    EXPECT_EQ(put.status().mpi_class(), MPI_ERR_PROC_ABORTED);
    EXPECT_TRUE(other.status().ok());
    Gate late;
    EXPECT_EQ(world.put(0, out.data(), view(nullptr, 10), 1, place(0, 10), &late).mpi_class(), MPI_ERR_PROC_ABORTED);
    EXPECT_TRUE(late.open());
  }
}

// The window goes while the transport still has its operations, as after the death of a process.
TEST(NativeFailures, LeaveNothingThatTouchesAWindowThatIsGone) {
  LoopOptions options = remote_faults(4);
  options.put_pending = 1;
  options.again = options.delay = 0;
  NativeWorld world(2, 1000, options);
  std::vector<std::byte> out(1000);
  ASSERT_TRUE(world.put(0, out.data(), view(nullptr, 1000), 1, place(0, 1000)).ok());
  world.close(0);
  for (int i = 0; i < 10; ++i) world.world.world.poll();
  EXPECT_TRUE(world.world.world[0].others->remotes.empty());
}

}  // namespace
}  // namespace ashlar::test
