#include "framework/base/list.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

struct Item : ListHook {
  int value = 0;
};

TEST(List, KeepsOrderAndRemovesFromTheMiddle) {
  List<Item> list;
  Item items[5];
  for (int i = 0; i < 5; ++i) {
    items[i].value = i;
    list.push_back(&items[i]);
  }
  List<Item>::remove(&items[2]);
  EXPECT_FALSE(items[2].linked());
  int expected[] = {0, 1, 3, 4}, at = 0;
  for (Item& item : list) EXPECT_EQ(item.value, expected[at++]);
  EXPECT_EQ(at, 4);
  EXPECT_EQ(list.pop_front(), &items[0]);
  EXPECT_EQ(list.front(), &items[1]);
}

TEST(List, EmptyGivesNull) {
  List<Item> list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.pop_front(), nullptr);
  EXPECT_EQ(list.front(), nullptr);
}

}  // namespace
}  // namespace ashlar
