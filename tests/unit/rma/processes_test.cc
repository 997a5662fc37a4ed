// Processes, each with one thread, update the same words by all paths at once: element updates without atomic
// announcements, which the process that closes the gate has to fence.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "framework/base/sanitizers.h"
#include "tests/unit/forbid.h"
#include "tests/unit/rma/mixture.h"

namespace ashlar::rma {
namespace {

using test::Mixer;
using test::Shared;
using test::Words;

#if defined(ASHLAR_TSAN) || defined(ASHLAR_ASAN)
constexpr int kSteps = 1000;
#else
constexpr int kSteps = 20000;
#endif

/// What a process tells of its account: what is in shared memory when it ends.
struct Account {
  std::int64_t sums[Words::kRow];
  std::int64_t tickets[2 * kSteps], replaced[2 * kSteps];
  std::size_t ticket_count, replaced_count;
  std::int64_t swaps, narrow, reals, complex, misaligned, largest, smallest;
};
struct World {
  Words words;
  std::atomic<std::uint32_t> joined;
  Account accounts[Shared::kOrigins];
};

void write_down(const Mixer& mixer, Account& account) {
  std::copy(mixer.sums.begin(), mixer.sums.end(), account.sums);
  std::copy(mixer.tickets.begin(), mixer.tickets.end(), account.tickets);
  std::copy(mixer.replaced.begin(), mixer.replaced.end(), account.replaced);
  account.ticket_count = mixer.tickets.size();
  account.replaced_count = mixer.replaced.size();
  account.swaps = mixer.swaps;
  account.narrow = mixer.narrow;
  account.reals = mixer.reals;
  account.complex = mixer.complex;
  account.misaligned = mixer.misaligned;
  account.largest = mixer.largest;
  account.smallest = mixer.smallest;
}
void read_back(const Account& account, Mixer& mixer) {
  mixer.sums.assign(account.sums, account.sums + Words::kRow);
  mixer.tickets.assign(account.tickets, account.tickets + account.ticket_count);
  mixer.replaced.assign(account.replaced, account.replaced + account.replaced_count);
  mixer.swaps = account.swaps;
  mixer.narrow = account.narrow;
  mixer.reals = account.reals;
  mixer.complex = account.complex;
  mixer.misaligned = account.misaligned;
  mixer.largest = account.largest;
  mixer.smallest = account.smallest;
}

using Prepare = void (*)(std::uint32_t process);  // in each process, before or after it joins

void mix(Guard::Kind kind, std::uint32_t processes, bool far, Prepare before = nullptr, Prepare after = nullptr) {
  Shared shared(sizeof(World));
  World& world = *shared.words<World>();
  test::begin(world.words);
  const int failed = test::in_processes(processes, [&](std::uint32_t i) {
    if (before != nullptr) before(i);
    join_updates({&shared.line(), 1});
    if (after != nullptr) after(i);
    world.joined.fetch_add(1);
    while (world.joined.load() < processes) sched_yield();
    Mixer mixer(shared.guard(kind, i, 64), world.words, i, far);
    for (int step = 0; step < kSteps && mixer.wrong.empty(); ++step) mixer.step();
    write_down(mixer, world.accounts[i]);
    if (!mixer.wrong.empty()) std::fprintf(stderr, "process %u: %s\n", i, mixer.wrong.c_str());
    return mixer.wrong.empty();
  });
  ASSERT_EQ(failed, 0);
  Mixer all(shared.guard(kind), world.words, 0);
  for (std::uint32_t i = 0; i < processes; ++i) {
    Mixer one(shared.guard(kind), world.words, i);
    read_back(world.accounts[i], one);
    test::merge(all, one);
  }
  EXPECT_EQ(test::verdict(world.words, all), "");
}

class RmaProcessesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { datatype::register_predefined(); }
};

TEST_F(RmaProcessesTest, ElementsAndRangesOfTwo) { mix(Guard::Kind::kElements, 2, false); }
TEST_F(RmaProcessesTest, ElementsAndRangesOfEight) { mix(Guard::Kind::kElements, 8, false); }
TEST_F(RmaProcessesTest, LockedFromNearAndFar) { mix(Guard::Kind::kLocked, 3, true); }

void forbid_one(std::uint32_t process) {
  if (process == 1 && !ashlar::test::forbid(SYS_membarrier)) _exit(2);
}
// Then all processes fence for themselves.
TEST_F(RmaProcessesTest, OneHasNoProcessBarriers) { mix(Guard::Kind::kElements, 3, false, forbid_one); }
// The process finds out when it closes the gate.
TEST_F(RmaProcessesTest, OneLosesProcessBarriers) { mix(Guard::Kind::kElements, 3, false, nullptr, forbid_one); }

}  // namespace
}  // namespace ashlar::rma
