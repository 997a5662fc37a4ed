#include "framework/base/slab.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

namespace ashlar {
namespace {

struct Thing {
  std::uint32_t kind = 0x1234;
  int value = 0;
  explicit Thing(int v) : value(v) {}
};

TEST(Slab, GivesDistinctAlignedObjectsInTheArena) {
  Slab<Thing> slab;
  std::set<Thing*> seen;
  for (int i = 0; i < 10000; ++i) {
    Thing* t = slab.take(i);
    ASSERT_NE(t, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t) % 64, 0u);
    EXPECT_TRUE(Arena::contains(t));
    EXPECT_TRUE(seen.insert(t).second);
  }
  EXPECT_EQ(slab.out(), 10000u);
  int expected_sum = 0, sum = 0;
  for (int i = 0; i < 10000; ++i) expected_sum += i;
  for (Thing* t : seen) sum += t->value;
  EXPECT_EQ(sum, expected_sum);
  for (Thing* t : seen) slab.put(t);
  EXPECT_EQ(slab.out(), 0u);
}

TEST(Slab, FreedStorageReadsDeadUntilReused) {
  Slab<Thing> slab;
  Thing* t = slab.take(1);
  const void* where = t;
  slab.put(t);
  std::uint32_t word = 0;
  std::memcpy(&word, where, sizeof word);
  EXPECT_EQ(word, kDead);
  EXPECT_EQ(slab.take(2), where);  // last in, first out: the warm cell
}

TEST(Slab, StopsAtItsLimit) {
  Slab<Thing> slab;
  slab.set_limit(10);
  std::vector<Thing*> out;
  while (Thing* t = slab.take(0)) out.push_back(t);
  EXPECT_EQ(out.size(), 10u);
  EXPECT_EQ(out.size(), slab.capacity());
}

TEST(Arena, KnowsWhatIsNotItsOwn) {
  int on_stack = 0;
  EXPECT_FALSE(Arena::contains(&on_stack));
  EXPECT_FALSE(Arena::contains(nullptr));
  EXPECT_FALSE(Arena::contains(reinterpret_cast<void*>(0xdeadbeef)));
  char* page = static_cast<char*>(Arena::grow(100));
  ASSERT_NE(page, nullptr);
  EXPECT_TRUE(Arena::contains(page));
  EXPECT_FALSE(Arena::contains(page + 8)) << "not aligned to a cache line";
  for (int i = 0; i < 4096; ++i) EXPECT_EQ(page[i], 0);
}

}  // namespace
}  // namespace ashlar
