#include "framework/match/table.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace ashlar::match {
namespace {

TEST(Table, FindsTheOldestOfAKey) {
  Table table;
  Entry first, second, other;
  first.key = second.key = {Key::place(4, 1), 7};
  other.key = {Key::place(4, 1), 8};
  table.insert(first);
  table.insert(other);
  table.insert(second);
  EXPECT_EQ(table.find({Key::place(4, 1), 7}), &first);
  table.remove(first);
  EXPECT_EQ(table.find({Key::place(4, 1), 7}), &second);
  EXPECT_EQ(table.find({Key::place(6, 1), 7}), nullptr);
  EXPECT_FALSE(first.filed());
  EXPECT_TRUE(second.filed());
}

TEST(Table, GrowthKeepsTheOrderOfEachKey) {
  constexpr int kKeys = 100, kEach = 100;
  Table table;
  std::vector<Entry> entries(kKeys * kEach);
  for (int i = 0; i < kKeys * kEach; ++i) {
    Entry& entry = entries[static_cast<std::size_t>(i)];
    entry.key = {Key::place(2, i % kKeys), i % 7};
    entry.stamp = static_cast<std::uint64_t>(i);
    table.insert(entry);
  }
  EXPECT_EQ(table.count(), entries.size());
  std::size_t found = 0;
  for (int source = 0; source < kKeys; ++source) {
    for (int tag = 0; tag < 7; ++tag) {
      std::uint64_t last = 0;
      for (bool first = true; Entry* entry = table.find({Key::place(2, source), tag}); first = false) {
        EXPECT_TRUE(first || entry->stamp > last);
        last = entry->stamp;
        table.remove(*entry);
        ++found;
      }
    }
  }
  EXPECT_EQ(found, entries.size());
  EXPECT_EQ(table.count(), 0u);
}

// What matching costs is counted, not timed: entries that a search looked at in vain.
TEST(Table, CostDoesNotDependOnTheNumberOfKeys) {
  for (const int count : {100, 10000, 100000}) {
    Table table;
    std::vector<Entry> entries(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      entries[static_cast<std::size_t>(i)].key = {Key::place(2, i / 1000), i % 1000};
      table.insert(entries[static_cast<std::size_t>(i)]);
    }
    for (int i = count; i-- > 0;) ASSERT_NE(table.find(entries[static_cast<std::size_t>(i)].key), nullptr);
    EXPECT_LT(table.passed(), 2 * static_cast<std::uint64_t>(count)) << count;
  }
}

TEST(Table, CostDoesNotDependOnTheNumberOfEntriesOfAKey) {
  Table table;
  std::vector<Entry> entries(100000);
  for (Entry& entry : entries) {
    entry.key = {Key::place(2, 3), 5};
    table.insert(entry);
  }
  for (Entry& entry : entries) {
    ASSERT_EQ(table.find(entry.key), &entry);
    table.remove(entry);
  }
  EXPECT_EQ(table.passed(), 0u);
}

TEST(Table, EachMayRemoveWhatItIsGiven) {
  Table table;
  std::vector<Entry> entries(1000);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].key = {Key::place(2, static_cast<Rank>(i)), 0};
    table.insert(entries[i]);
  }
  std::size_t seen = 0;
  table.each([&](Entry& entry) {
    ++seen;
    if (entry.key.source() % 2 == 0) table.remove(entry);
  });
  EXPECT_EQ(seen, 1000u);
  EXPECT_EQ(table.count(), 500u);
}

}  // namespace
}  // namespace ashlar::match
