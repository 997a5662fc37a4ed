// Many threads update the same words by all paths at once. A program of its own: threads are on from its start.
#include <gtest/gtest.h>

#include <thread>

#include "framework/base/sanitizers.h"
#include "tests/unit/rma/mixture.h"

namespace ashlar::rma {
namespace {

using test::Mixer;
using test::Shared;
using test::Words;

#if defined(ASHLAR_TSAN) || defined(ASHLAR_ASAN)
constexpr int kSteps = 1500;
#else
constexpr int kSteps = 20000;
#endif

// Threads of three processes, as far as the lines go.
void mix(Guard::Kind kind, std::uint32_t threads, bool far, std::uint32_t flags = 0) {
  Shared shared(sizeof(Words));
  Words& words = *shared.words<Words>();
  test::begin(words);
  join_updates({&shared.line(), 1});
  shared.line().gate.fetch_or(flags);
  std::vector<Mixer> mixers;
  for (std::uint32_t i = 0; i < threads; ++i) mixers.emplace_back(shared.guard(kind, i % 3, 64), words, i, far);
  std::vector<std::thread> running;
  for (Mixer& mixer : mixers)
    running.emplace_back([&mixer] {
      for (int i = 0; i < kSteps && mixer.wrong.empty(); ++i) mixer.step();
    });
  for (std::thread& thread : running) thread.join();
  Mixer all(shared.guard(kind), words, 0);
  for (const Mixer& mixer : mixers) test::merge(all, mixer);
  EXPECT_EQ(test::verdict(words, all), "");
  EXPECT_EQ(shared.line().gate & gate::kHolder, 0U);
  for (std::uint32_t i = 0; i < Shared::kOrigins; ++i) {
    EXPECT_EQ(shared.origin(i).updating, 0U);
    EXPECT_EQ(shared.origin(i).awaited, 0U);
  }
}

TEST(RmaThreadsTest, ElementsAndRanges) { mix(Guard::Kind::kElements, 4, false); }
TEST(RmaThreadsTest, ElementsAndRangesOfManyThreads) { mix(Guard::Kind::kElements, 12, false); }
TEST(RmaThreadsTest, ElementsAndRangesFenced) { mix(Guard::Kind::kElements, 4, false, gate::kFenced); }
TEST(RmaThreadsTest, Locked) { mix(Guard::Kind::kLocked, 4, false); }
TEST(RmaThreadsTest, LockedFromNearAndFar) { mix(Guard::Kind::kLocked, 4, true); }

// A process that wants the gate gets it, though threads of another one update elements of another target all the time.
TEST(RmaThreadsTest, RangesAreNotKeptOut) {
  Shared busy(64), wanted(64 * 1024);
  std::atomic<bool> over{false};
  // Two targets of one window have the same origin lines.
  Guard hammering = wanted.guard(Guard::Kind::kElements, 1);
  hammering.line = &busy.line();
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      const std::int64_t one = 1;
      while (!over) test::add(hammering, busy.memory(), 0, MPI_SUM, MPI_INT64_T, &one, 1);
    });
  const std::vector<double> row(1024, 1);
  const Guard guard = wanted.guard(Guard::Kind::kElements, 0);
  for (int i = 0; i < 50; ++i) {
    test::add(guard, wanted.memory(), 0, MPI_SUM, MPI_DOUBLE, row.data(), 1024);
    wanted.line().gate = 0;  // so that the next one has to close it again
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*wanted.words<double>(), 50);
}

}  // namespace
}  // namespace ashlar::rma

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ashlar::datatype::register_predefined();
  ashlar::LaneLock::enable_threads();
  return RUN_ALL_TESTS();
}
