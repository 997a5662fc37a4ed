#include "components/rma/am/lock_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

namespace ashlar::rma::am {
namespace {

/// Some processes and one lock.
struct Lock {
  explicit Lock(int processes) : entries(static_cast<std::size_t>(processes)), holds(entries.size()) {
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i].rank = static_cast<Rank>(i);
  }
  bool request(int who, LockMode mode, bool nested = false) {
    LockEntry& entry = entries[static_cast<std::size_t>(who)];
    entry.mode = mode;
    const bool granted = queue.request(entry, nested);
    if (granted) holds[static_cast<std::size_t>(who)] = true;
    return granted;
  }
  std::vector<Rank> release(int who) {
    std::vector<Rank> granted;
    holds[static_cast<std::size_t>(who)] = false;
    queue.release(entries[static_cast<std::size_t>(who)], [&](LockEntry& next) {
      granted.push_back(next.rank);
      holds[static_cast<std::size_t>(next.rank)] = true;
    });
    return granted;
  }

  std::deque<LockEntry> entries;
  std::deque<bool> holds;
  LockQueue queue;
};

constexpr LockMode kShared = LockMode::kShared, kExclusive = LockMode::kExclusive;

TEST(LockQueue, SharedLocksAreHeldTogetherAndExclusiveOnesAlone) {
  Lock lock(4);
  EXPECT_TRUE(lock.request(0, kShared));
  EXPECT_TRUE(lock.request(1, kShared));
  EXPECT_FALSE(lock.request(2, kExclusive));
  EXPECT_EQ(lock.release(0), std::vector<Rank>{});
  EXPECT_EQ(lock.release(1), std::vector<Rank>{2});
  EXPECT_FALSE(lock.request(0, kShared));
  EXPECT_FALSE(lock.request(3, kExclusive));
  EXPECT_EQ(lock.queue.holder()->rank, 2);
  EXPECT_EQ(lock.queue.waiting(), 2u);
  EXPECT_EQ(lock.release(2), std::vector<Rank>{0});
  EXPECT_EQ(lock.release(0), std::vector<Rank>{3});
  EXPECT_EQ(lock.release(3), std::vector<Rank>{});
  EXPECT_EQ(lock.queue.holder(), nullptr);
}

TEST(LockQueue, ReadersThatCameAfterAWriterWaitForItAndAreGrantedTogether) {
  Lock lock(5);
  EXPECT_TRUE(lock.request(0, kShared));
  EXPECT_FALSE(lock.request(1, kExclusive));
  for (const int reader : {2, 3, 4}) EXPECT_FALSE(lock.request(reader, kShared));
  EXPECT_EQ(lock.release(0), std::vector<Rank>{1});
  EXPECT_EQ(lock.release(1), (std::vector<Rank>{2, 3, 4}));
}

TEST(LockQueue, AHolderOfAnotherLockJoinsReadersPastAWriter) {
  Lock lock(4);
  EXPECT_TRUE(lock.request(0, kShared));
  EXPECT_FALSE(lock.request(1, kExclusive));
  EXPECT_FALSE(lock.request(2, kShared));
  EXPECT_TRUE(lock.request(3, kShared, /*nested=*/true));
  EXPECT_EQ(lock.release(0), std::vector<Rank>{});
  EXPECT_EQ(lock.release(3), std::vector<Rank>{1});
  EXPECT_FALSE(lock.request(0, kShared, /*nested=*/true)) << "a writer holds it";
}

TEST(LockQueue, TheTwoKindsOfHoldersOfTheSecondLockTakeTurns) {
  Lock lock(4);
  EXPECT_TRUE(lock.request(0, LockMode::kSome));
  EXPECT_TRUE(lock.request(1, LockMode::kSome));
  EXPECT_FALSE(lock.request(2, LockMode::kAll));
  EXPECT_FALSE(lock.request(3, LockMode::kSome));
  EXPECT_EQ(lock.release(0), std::vector<Rank>{});
  EXPECT_EQ(lock.release(1), std::vector<Rank>{2});
  EXPECT_FALSE(lock.request(0, LockMode::kAll)) << "it came after the one that waits";
  EXPECT_EQ(lock.release(2), std::vector<Rank>{3});
  EXPECT_EQ(lock.release(3), std::vector<Rank>{0});
}

TEST(LockQueue, WhoeverWaitsMayLeave) {
  Lock lock(3);
  EXPECT_TRUE(lock.request(0, kShared));
  EXPECT_FALSE(lock.request(1, kExclusive));
  EXPECT_FALSE(lock.request(2, kShared));
  EXPECT_EQ(lock.release(1), std::vector<Rank>{2});
}

// Any order of requests and releases: modes never mix, nobody is forgotten, and requests that are not nested are
// granted in their order.
TEST(LockQueue, HoldsInAnyOrder) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const int processes = 2 + static_cast<int>(random() % 12);
    Lock lock(processes);
    std::vector<int> state(static_cast<std::size_t>(processes));  // 0 idle, 1 waits, 2 holds
    std::deque<Rank> order;                                       // those that wait, oldest first
    const auto check = [&] {
      int alone = 0, together = 0;
      for (int i = 0; i < processes; ++i) {
        if (!lock.holds[static_cast<std::size_t>(i)]) continue;
        (lock.entries[static_cast<std::size_t>(i)].mode == kExclusive ? alone : together) += 1;
      }
      ASSERT_TRUE(alone == 0 || (alone == 1 && together == 0)) << "seed " << seed;
      ASSERT_TRUE(order.empty() || alone + together > 0) << "seed " << seed << ": the lock is free and is not granted";
    };
    for (int step = 0; step < 400; ++step) {
      const int who = static_cast<int>(random() % static_cast<unsigned>(processes));
      int& now = state[static_cast<std::size_t>(who)];
      if (now == 0) {
        const bool granted = lock.request(who, random() % 3 == 0 ? kExclusive : kShared);
        now = granted ? 2 : 1;
        if (!granted) order.push_back(who);
        ASSERT_TRUE(!granted || order.empty()) << "seed " << seed << ": passed one that waits";
      } else if (now == 2) {
        now = 0;
        for (const Rank next : lock.release(who)) {
          ASSERT_EQ(next, order.front()) << "seed " << seed;
          order.pop_front();
          state[static_cast<std::size_t>(next)] = 2;
        }
      }
      check();
    }
  }
}

}  // namespace
}  // namespace ashlar::rma::am
