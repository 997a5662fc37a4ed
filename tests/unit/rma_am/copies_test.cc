#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "components/rma/am/runs.h"
#include "tests/unit/rma_am/window_world.h"

namespace ashlar::test {
namespace {

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> out(bytes);
  std::mt19937 random(seed);
  for (std::byte& byte : out) byte = static_cast<std::byte>(random());
  return out;
}

class Copies : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Faults, Copies, testing::Range(1u, 9u));

TEST_P(Copies, OfAllSizesArriveWhole) {
  constexpr std::size_t kBytes = 70000;
  WindowWorld world(2, kBytes, faults(GetParam()));
  Member& origin = world[0];
  for (const MPI_Count size : {0, 1, 7, 200, 1000, 1024, 3000, 65536}) {
    const auto out = pattern(static_cast<std::size_t>(size), GetParam());
    ASSERT_TRUE(origin.put(out.data(), size, bytes(), 1, 100, size, bytes()).ok());
    ASSERT_TRUE(world.drain(0).ok());
    EXPECT_TRUE(std::equal(out.begin(), out.end(), world[1].memory.begin() + 100)) << size;
    EXPECT_EQ(world[1].memory[static_cast<std::size_t>(100 + size)], std::byte{0});
    std::vector<std::byte> in(out.size());
    ASSERT_TRUE(origin.get(in.data(), size, bytes(), 1, 100, size, bytes()).ok());
    ASSERT_TRUE(world.drain(0, /*remote=*/false).ok());
    EXPECT_EQ(in, out) << size;
    std::fill(world[1].memory.begin(), world[1].memory.end(), std::byte{0});
  }
}

TEST_P(Copies, BetweenDifferentLayouts) {
  WindowWorld world(3, 40000, faults(GetParam()));
  Datatype& ints = datatype::predefined(MPI_INT);
  const auto here = vector_of(500, 3, 5, ints);    // 1500 ints
  const auto there = vector_of(300, 5, 11, ints);  // as many
  std::vector<int> out(2500), in(2500, -1);
  std::iota(out.begin(), out.end(), 1);
  // The types are freed while the operation is under way.
  {
    const auto brief_here = vector_of(500, 3, 5, ints), brief_there = vector_of(300, 5, 11, ints);
    ASSERT_TRUE(world[0].put(out.data(), 1, *brief_here, 2, 8, 1, *brief_there).ok());
  }
  ASSERT_TRUE(world.drain(0).ok());
  const int* const memory = reinterpret_cast<int*>(world[2].memory.data() + 8);
  for (int i = 0; i < 1500; ++i)
    ASSERT_EQ(memory[i / 5 * 11 + i % 5], out[static_cast<std::size_t>(i / 3 * 5 + i % 3)]);
  EXPECT_EQ(memory[5], 0) << "a gap of the target's type";
  ASSERT_TRUE(world[1].get(in.data(), 1, *here, 2, 8, 1, *there).ok());
  ASSERT_TRUE(world.drain(1).ok());
  for (std::size_t i = 0; i < 2497; ++i) ASSERT_EQ(in[i], i % 5 < 3 ? out[i] : -1);
}

TEST_P(Copies, OfManyProcessesAtOnceAndToThemselves) {
  constexpr int kProcesses = 4, kPieces = 40, kPiece = 333;
  WindowWorld world(kProcesses, kProcesses * kPieces * kPiece, faults(GetParam()));
  std::vector<std::vector<std::byte>> data;
  for (int rank = 0; rank < kProcesses; ++rank) data.push_back(pattern(kPieces * kPiece, static_cast<unsigned>(rank)));
  for (int piece = 0; piece < kPieces; ++piece)
    for (int from = 0; from < kProcesses; ++from)
      for (int to = 0; to < kProcesses; ++to)
        ASSERT_TRUE(world[from]
                        .put(data[static_cast<std::size_t>(from)].data() + piece * kPiece, kPiece, bytes(), to,
                             (from * kPieces + piece) * kPiece, kPiece, bytes())
                        .ok());
  for (int rank = 0; rank < kProcesses; ++rank) ASSERT_TRUE(world.drain(rank).ok());
  for (int from = 0; from < kProcesses; ++from)
    for (int to = 0; to < kProcesses; ++to)
      ASSERT_TRUE(std::equal(data[static_cast<std::size_t>(from)].begin(), data[static_cast<std::size_t>(from)].end(),
                             world[to].memory.begin() + from * kPieces * kPiece));
}

TEST_P(Copies, TellTheirGatesWhenTheBufferIsFree) {
  WindowWorld world(2, 100000, faults(GetParam()));
  const auto out = pattern(50000, 1);
  std::vector<std::byte> in(50000);
  Gate put, get;
  ASSERT_TRUE(world[0].put(out.data(), 50000, bytes(), 1, 0, 50000, bytes(), &put).ok());
  ASSERT_TRUE(world[0].get(in.data(), 50000, bytes(), 1, 0, 50000, bytes(), &get).ok());
  EXPECT_FALSE(get.open());
  ASSERT_TRUE(world.world.poll_until([&] { return put.open() && get.open(); }));
  EXPECT_TRUE(put.status().ok());
  EXPECT_TRUE(get.status().ok());
  EXPECT_EQ(in, out) << "operations of one origin are executed in order";
}

// Process 1 has not finished making the window when the first messages of process 0 come.
TEST(Copies, WaitForAWindowThatIsNotMadeYet) {
  World world(2);
  const rma::am::Config config = WindowWorld::kConfig;
  Member first(world[0], 5000, config, false), second(world[1], 5000, config, false);
  first.start();
  const auto out = pattern(3000, 3);
  ASSERT_TRUE(first.put(out.data(), 3000, bytes(), 1, 0, 3000, bytes()).ok());
  std::uint64_t one = 1, former = 7;
  ASSERT_TRUE(first.update(MPI_SUM, MPI_UINT64_T, &one, &former, 1, 4000).ok());
  for (int i = 0; i < 20; ++i) world.poll();
  EXPECT_EQ(second.memory[0], std::byte{0});
  second.start();
  EXPECT_TRUE(std::equal(out.begin(), out.end(), second.memory.begin()));
  ASSERT_TRUE(world.poll_until([&] { return first.channel(1).requests.idle(); }));
  EXPECT_EQ(former, 0u);
}

// More data than one process may have under way, through a transport that takes 256 bytes at a time.
TEST(Copies, NeedNoMoreThanTheLeastRoom) {
  LoopOptions options;
  options.max_bcopy = rma::WindowWire::kLeastRoom;
  options.room = 3;
  WindowWorld world(2, 100000, options, {.credits = 1, .queue_limit = 4096});
  const auto out = pattern(50000, 1);
  std::vector<std::byte> in(50000);
  const auto scattered = vector_of(25000, 1, 2, datatype::predefined(MPI_BYTE));
  ASSERT_TRUE(world[0].put(out.data(), 25000, bytes(), 1, 0, 1, *scattered).ok());
  ASSERT_TRUE(world[0].get(in.data(), 25000, bytes(), 1, 0, 1, *scattered).ok());
  ASSERT_TRUE(world.drain(0).ok());
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + 25000, in.begin()));
}

// The window is larger than 4 GiB, and so is the place of an operation in it; the rest is not touched.
TEST(Copies, GoBeyondFourGibibytes) {
  datatype::register_predefined();
  const MPI_Aint far = (MPI_Aint{1} << 33) + 24;
  const rma::Place place{.offset = far, .count = MPI_Count{3} << 31, .type = &bytes()};
  rma::am::Run run;
  std::uint64_t length = 0;
  ASSERT_EQ(rma::am::list_runs(place, bytes(), std::uint64_t{5} << 30, 8000, {&run, 1}, &length), 1u);
  EXPECT_EQ(run.offset, far + (MPI_Aint{5} << 30));
  EXPECT_EQ(length, 8000u);
}

TEST(Copies, ReachAttachedMemoryOfDynamicWindows) {
  WindowWorld world(2, 1000, {}, WindowWorld::kConfig, /*dynamic=*/true);
  std::vector<std::byte> first(300), second(300);
  const auto address = [](const void* of) { return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(of)); };
  auto& regions = *world[1].window.regions;
  regions = {{.address = address(first.data()), .size = 100},
             {.address = address(first.data() + 100), .size = 200},
             {.address = address(second.data()), .size = 300}};
  std::sort(regions.begin(), regions.end(),
            [](const rma::Region& a, const rma::Region& b) { return a.address < b.address; });
  const auto out = pattern(300, 1);
  ASSERT_TRUE(
      world[0].put(out.data(), 300, bytes(), 1, static_cast<MPI_Aint>(address(first.data())), 300, bytes()).ok());
  ASSERT_TRUE(world.drain(0).ok());
  EXPECT_EQ(first, out) << "regions that adjoin each other";
  ASSERT_TRUE(
      world[0].put(out.data(), 10, bytes(), 1, static_cast<MPI_Aint>(address(second.data()) + 295), 10, bytes()).ok());
  const Status outcome = world.drain(0);
  EXPECT_EQ(outcome.mpi_class(), MPI_ERR_RMA_RANGE);
  EXPECT_NE(std::string(outcome.text()).find("not attached to window 'halo'"), std::string::npos) << outcome.text();
  EXPECT_EQ(second[299], std::byte{0}) << "nothing of it is done";
}

}  // namespace
}  // namespace ashlar::test
