#include "mpiexec/text.h"

#include <gtest/gtest.h>

namespace ashlar::mpiexec {
namespace {

TEST(Text, ListsAreShort) {
  EXPECT_EQ(list_of({}), "");
  EXPECT_EQ(list_of({3}), "3");
  EXPECT_EQ(list_of({0, 1}), "0-1");
  EXPECT_EQ(list_of({0, 2, 3, 4, 9}), "0, 2-4 and 9");
  EXPECT_EQ(list_of({0, 2, 4, 6, 8}, 3), "0, 2, 4 and 2 more");
}

TEST(Text, NearestNeedsLikeness) {
  EXPECT_EQ(nearest("--bindto", {"--bind-to", "--map-by"}), "--bind-to");
  EXPECT_EQ(nearest("--completely-else", {"--bind-to", "--map-by"}), "");
  EXPECT_EQ(nearest("-m", {"-n"}), "-n");
}

TEST(Text, SignalsHaveNames) {
  EXPECT_EQ(signal_words(11), "signal 11 (SIGSEGV, segmentation fault)");
  EXPECT_EQ(signal_words(64), "signal 64");
}

}  // namespace
}  // namespace ashlar::mpiexec
