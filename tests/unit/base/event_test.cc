#include "framework/base/event.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "framework/base/lane_lock.h"

namespace ashlar::event {
namespace {

constexpr Field kFields[] = {{.name = "number"}, {.name = "word", .type = FieldType::kInt}};
constinit Type something = {.name = "test.something", .help = "for this test", .fields = kFields, .verbosity = 9};

std::vector<Record> got;
bool raises_more = false;

void collect(const Record& record, Safety) noexcept {
  got.push_back(record);
  if (std::exchange(raises_more, false)) raise(something, nullptr, {record.values[0] + 100, 0});
}

class EventTest : public testing::Test {
 protected:
  EventTest() {
    got.clear();
    raises_more = false;
    something.dropped = 0;
    listen(collect);
    set_queue_capacity(256);
  }
};

TEST_F(EventTest, NobodyIsHeardUntilSomebodyListens) {
  EXPECT_FALSE(heard(something));
  something.listeners = 1;
  EXPECT_TRUE(heard(something));
  something.listeners = 0;
}

TEST_F(EventTest, ComesWhenTheThreadGivesUpItsLastLaneLock) {
  LaneLock outer, inner;
  {
    const LaneGuard guard(outer);
    raise(something, &outer, {1, 2});
    {
      const LaneGuard second(inner);
      raise(something, nullptr, {3});
    }
    EXPECT_TRUE(got.empty());
    deliver();
    EXPECT_TRUE(got.empty());
  }
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].object, &outer);
  EXPECT_EQ(got[0].values[0], 1u);
  EXPECT_EQ(got[0].values[1], 2u);
  EXPECT_EQ(got[1].values[0], 3u);
  EXPECT_LE(got[0].time, got[1].time);
}

struct Seen {
  const Type* type = nullptr;
  std::vector<std::uint64_t> values;
};
void see(void* self, const Type& type, std::span<const std::uint64_t> values) noexcept {
  *static_cast<Seen*>(self) = {.type = &type, .values = {values.begin(), values.end()}};
}

TEST_F(EventTest, TheObserverSeesItAtItsSite) {
  Seen seen;
  observe(see, &seen);
  LaneLock lock;
  {
    const LaneGuard guard(lock);
    something.listeners = Type::kObserved;
    EXPECT_TRUE(heard(something));
    raise(something, nullptr, {1, 2});
    EXPECT_EQ(seen.type, &something);
    EXPECT_EQ(seen.values, (std::vector<std::uint64_t>{1, 2}));
    something.listeners = Type::kObserved | 1;  // and a registration
    raise(something, nullptr, {3});
    EXPECT_EQ(seen.values, std::vector<std::uint64_t>{3});
    something.listeners = 1;
    raise(something, nullptr, {4});
    EXPECT_EQ(seen.values, std::vector<std::uint64_t>{3});
  }
  something.listeners = 0;
  observe(nullptr, nullptr);
  ASSERT_EQ(got.size(), 2u) << "what the observer alone wants is queued for nobody";
  EXPECT_EQ(got[0].values[0], 3u);
  EXPECT_EQ(got[1].values[0], 4u);
}

TEST_F(EventTest, WithoutALockItComesWhenAsked) {
  raise(something, nullptr, {1});
  EXPECT_TRUE(got.empty());
  deliver();
  EXPECT_EQ(got.size(), 1u);
}

TEST_F(EventTest, AHoldPutsItOffUntilItsEnd) {
  LaneLock lock;
  {
    const Hold first;
    const Hold second;
    const LaneGuard guard(lock);
    raise(something, nullptr, {1});
  }
  EXPECT_EQ(got.size(), 1u);
}

TEST_F(EventTest, WhatACallbackRaisesComesAfterWhatIsThere) {
  raises_more = true;
  raise(something, nullptr, {1});
  raise(something, nullptr, {2});
  deliver();
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[1].values[0], 2u);
  EXPECT_EQ(got[2].values[0], 101u);
}

TEST_F(EventTest, AFullQueueDropsAndCounts) {
  set_queue_capacity(16);
  std::thread([] {  // a thread of its own has a queue of this capacity
    for (unsigned i = 0; i < 20; ++i) raise(something, nullptr, {i});
    deliver();
    EXPECT_EQ(got.size(), 16u);
    EXPECT_EQ(something.dropped, 4u);
    // Once it is empty there is room again.
    for (unsigned i = 0; i < 16; ++i) raise(something, nullptr, {i});
    deliver();
    EXPECT_EQ(got.size(), 32u);
    EXPECT_EQ(something.dropped, 4u);
  })
      .join();
}

// A tool has lowered the limit after the queue had grown.
TEST_F(EventTest, AQueueThatHadMoreRoomKeepsToALowerLimit) {
  std::thread([] {
    for (unsigned i = 0; i < 200; ++i) raise(something, nullptr, {i});
    deliver();
    EXPECT_EQ(got.size(), 200u);
    set_queue_capacity(16);
    for (unsigned i = 0; i < 20; ++i) raise(something, nullptr, {i});
    deliver();
    EXPECT_EQ(got.size(), 216u);
    EXPECT_EQ(something.dropped, 4u);
  }).join();
}

TEST_F(EventTest, OtherThreadsDeliverTheirOwn) {
  raise(something, nullptr, {1});
  std::thread([] {
    deliver();
    EXPECT_TRUE(got.empty());
  }).join();
  deliver();
  EXPECT_EQ(got.size(), 1u);
}

}  // namespace
}  // namespace ashlar::event
