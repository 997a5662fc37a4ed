#include "framework/base/process_barrier.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "framework/base/sanitizers.h"
#include "tests/unit/forbid.h"

namespace ashlar {
namespace {

#if defined(ASHLAR_TSAN)
constexpr int kRounds = 10'000;
#else
constexpr int kRounds = 30'000;
#endif

struct Words {
  alignas(64) std::atomic<int> frequent{0};
  alignas(64) std::atomic<int> rare{0};
  alignas(64) std::atomic<int> begun{0};
  alignas(64) std::atomic<int> seen{0};  // what the frequent side saw of the rare one, +1
};

Words* shared_words() {
  void* const memory = mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Words();
}

int ended(pid_t child) {
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Stores, and loads the other's word without a fence between.
void frequent_side(Words& words) {
  for (int round = 1; round <= kRounds; ++round) {
    for (int i = 0; words.begun.load(std::memory_order_acquire) != round; ++i)
      if (i > 1000) sched_yield();
    words.frequent.store(round, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    words.seen.store(words.rare.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
}

TEST(ProcessBarrierTest, OneOfTwoProcessesSeesTheOther) {
  if (!register_for_barriers()) GTEST_SKIP() << "no membarrier here";
  Words* const words = shared_words();
  ASSERT_NE(words, nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (!register_for_barriers()) _exit(1);
    frequent_side(*words);
    _exit(0);
  }
  int both_missed = 0;
  for (int round = 1; round <= kRounds; ++round) {
    words->seen.store(0, std::memory_order_relaxed);
    words->begun.store(round, std::memory_order_release);
    words->rare.store(round, std::memory_order_relaxed);
    ASSERT_TRUE(barrier_everywhere());
    const bool saw = words->frequent.load(std::memory_order_relaxed) == round;
    int other = 0;
    for (int i = 0; (other = words->seen.load(std::memory_order_acquire)) == 0; ++i)
      if (i > 1000) sched_yield();
    if (!saw && other != round + 1) ++both_missed;
  }
  EXPECT_EQ(ended(child), 0);
  munmap(words, sizeof(Words));
  EXPECT_EQ(both_missed, 0) << "of " << kRounds;
}

TEST(ProcessBarrierTest, SaysWhenTheSystemRefuses) {
  const pid_t child = fork();
  if (child == 0) {
    if (!register_for_barriers()) _exit(77);
    if (!barrier_everywhere()) _exit(1);
    if (!test::forbid(SYS_membarrier)) _exit(77);
    _exit(barrier_everywhere() || register_for_barriers() ? 2 : 0);
  }
  const int status = ended(child);
  if (status == 77) GTEST_SKIP() << "no membarrier, or no seccomp here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ashlar
