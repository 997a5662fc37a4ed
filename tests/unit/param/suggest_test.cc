#include "framework/param/suggest.h"

#include <gtest/gtest.h>

namespace ashlar::param {
namespace {

TEST(EditDistance, CountsEditsAndSwapsUpToTheLimit) {
  EXPECT_EQ(edit_distance("eager", "eager", 3), 0u);
  EXPECT_EQ(edit_distance("eager", "aeger", 3), 1u);
  EXPECT_EQ(edit_distance("eager", "eagr", 3), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting", 5), 3u);
  EXPECT_EQ(edit_distance("abc", "xyz", 1), 2u);
}

std::string_view meant(std::string_view written) {
  Suggestion s(written);
  for (const char* key : {"transport", "transport.shm.eager_limit", "transport.shm.ring_bytes", "p2p.copy_limit"})
    s.consider(key);
  return s.best();
}

TEST(Suggestion, FindsTyposAndRightNamesInWrongPlaces) {
  EXPECT_EQ(meant("transport.shm.eagre_limit"), "transport.shm.eager_limit");
  EXPECT_EQ(meant("eager_limit"), "transport.shm.eager_limit");
  EXPECT_EQ(meant("transprot"), "transport");
  EXPECT_EQ(meant("transport.shm.ring"), "transport.shm.ring_bytes");
  EXPECT_EQ(meant("bananas"), "");
}

TEST(Suggestion, ShortWordsAreGuessedWithCare) {
  Suggestion s("foo");
  s.consider("io");
  EXPECT_EQ(s.best(), "") << "two of three letters differ";
  s.consider("fo");
  EXPECT_EQ(s.best(), "fo");
}

}  // namespace
}  // namespace ashlar::param
