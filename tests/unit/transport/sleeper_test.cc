// Several senders and one sleeper, over bare words instead of rings: a raise that comes late, for a sleep that is over,
// must not eat the next one.
#include "components/transport/shm/sleeper.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "components/transport/shm/layout.h"
#include "components/transport/shm/wake_socket.h"
#include "framework/base/process_barrier.h"
#include "framework/base/sanitizers.h"

namespace ashlar::shm {
namespace {

constexpr int kSenders = 4;

struct Boxes {
  alignas(64) std::atomic<int> sent[kSenders] = {};
  alignas(64) std::atomic<int> taken[kSenders] = {};
  std::atomic<bool> stop{false};
};

void pause_randomly(std::mt19937& random) {
  for (auto i = random() % 200; i > 0; --i) asm volatile("" ::: "memory");
  if (random() % 8 == 0) sched_yield();
}

void send(SegmentHeader& header, Boxes& boxes, int me, int rounds) {
  WakeSocket socket;
  std::mt19937 random(static_cast<unsigned>(me));
  for (int i = 1; i <= rounds && !boxes.stop; ++i) {
    boxes.sent[me].store(i, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    raise(header, socket);
    while (boxes.taken[me].load(std::memory_order_acquire) != i && !boxes.stop) sched_yield();
    pause_randomly(random);
  }
}

TEST(SleeperTest, LateRaisesLoseNothing) {
  if (!register_for_barriers()) GTEST_SKIP() << "no membarrier here";
#if defined(ASHLAR_TSAN)
  constexpr int kRounds = 1000;
#else
  constexpr int kRounds = 5000;
#endif
  auto header = std::make_unique<SegmentHeader>();
  Boxes boxes;
  std::vector<std::thread> senders;
  for (int i = 0; i < kSenders; ++i) senders.emplace_back([&, i] { send(*header, boxes, i, kRounds); });
  int got = 0, sleeps = 0, lost = 0;
  const auto look = [&] {
    int news = 0;
    for (int i = 0; i < kSenders; ++i) {
      const int sent = boxes.sent[i].load(std::memory_order_acquire);
      if (sent == boxes.taken[i].load(std::memory_order_relaxed)) continue;
      boxes.taken[i].store(sent, std::memory_order_release);
      ++news;
    }
    got += news;
    return news > 0;
  };
  const auto waiting = [&] {
    for (int i = 0; i < kSenders; ++i) {
      if (boxes.sent[i].load(std::memory_order_acquire) != boxes.taken[i].load(std::memory_order_relaxed)) return true;
    }
    return false;
  };
  while (got < kSenders * kRounds && lost == 0) {
    const std::uint32_t seen = header->wake.load();
    if (look()) continue;
    header->sleeping.store(1, std::memory_order_relaxed);
    barrier_everywhere();
    if (!waiting()) {
      ++sleeps;
      const timespec limit{10, 0};
      const long r = syscall(SYS_futex, &header->wake, FUTEX_WAIT, seen, &limit, nullptr, 0);
      if (r != 0 && errno == ETIMEDOUT && waiting()) ++lost;
    }
    header->sleeping.store(0, std::memory_order_relaxed);
  }
  boxes.stop = true;
  for (auto& s : senders) s.join();
  EXPECT_EQ(lost, 0) << "a sender had something for the sleeper and did not wake it, after " << got << " messages";
  EXPECT_GT(sleeps, 0);
}

// The order that makes it so, looked at between any two instructions of a raise: when the word has changed the flag is
// gone.
TEST(SleeperTest, TheWordChangesAfterTheFlag) {
  void* memory = mmap(nullptr, sizeof(SegmentHeader), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& header = *new (memory) SegmentHeader();
  header.sleeping.store(1);
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
    kill(getpid(), SIGSTOP);
    WakeSocket socket;
    ::ashlar::shm::raise(header, socket);
    _exit(0);
  }
  int status = 0, steps = 0, wrong = 0;
  waitpid(child, &status, 0);
  while (WIFSTOPPED(status) && ++steps < 100000) {
    if (header.wake.load() != 0 && header.sleeping.load() != 0) ++wrong;
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) break;
    waitpid(child, &status, 0);
  }
  if (WIFSTOPPED(status)) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  const bool raised = header.wake.load() == 1 && header.sleeping.load() == 0;
  munmap(memory, sizeof(SegmentHeader));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no ptrace here";
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(raised);
  EXPECT_EQ(wrong, 0);
}

TEST(SleeperTest, WhoWaitsForDescriptorsIsSentADatagram) {
  auto header = std::make_unique<SegmentHeader>();
  header->nonce = 0x5eed0000u + static_cast<std::uint64_t>(getpid());
  WakeSocket owner, sender;
  pollfd readable{.fd = owner.open(header->nonce), .events = POLLIN, .revents = 0};
  ASSERT_GE(readable.fd, 0);
  EXPECT_EQ(owner.open(header->nonce), readable.fd) << "it is opened once";
  header->sleeping.store(kAsleep);
  raise(*header, sender);
  EXPECT_EQ(poll(&readable, 1, 0), 0) << "it sleeps on the word alone";
  header->sleeping.store(kDormant | kForDescriptors);
  raise(*header, sender);
  EXPECT_EQ(poll(&readable, 1, 0), 0) << "messages leave it asleep";
  header->sleeping.store(kAsleep | kForDescriptors);
  raise(*header, sender);
  EXPECT_EQ(poll(&readable, 1, 1000), 1);
  EXPECT_TRUE(owner.clear());
  EXPECT_EQ(poll(&readable, 1, 0), 0);
  for (int i = 0; i < 5000; ++i) EXPECT_TRUE(sender.send_to(header->nonce)) << "a full queue wakes, too";
  while (poll(&readable, 1, 0) == 1) EXPECT_TRUE(owner.clear());
  EXPECT_EQ(header->unreachable.load(), 0u);
}

TEST(SleeperTest, WhoCannotBeSentADatagramIsToldSo) {
  auto header = std::make_unique<SegmentHeader>();
  header->nonce = 0x5eed0001u;
  header->sleeping.store(kAsleep | kForDescriptors);
  WakeSocket sender;
  raise(*header, sender);
  EXPECT_EQ(header->unreachable.load(), 1u);
}

TEST(SleeperTest, RaiseTouchesNothingWhileAwake) {
  auto header = std::make_unique<SegmentHeader>();
  WakeSocket socket;
  raise(*header, socket);
  EXPECT_EQ(header->wake.load(), 0u);
  raise_always(*header, socket);
  EXPECT_EQ(header->wake.load(), 1u);
  header->sleeping.store(1);
  raise_always(*header, socket);
  EXPECT_EQ(header->sleeping.load(), 0u);
  EXPECT_EQ(header->wake.load(), 3u);
}

}  // namespace
}  // namespace ashlar::shm
