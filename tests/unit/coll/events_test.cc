#include "framework/coll/events.h"

#include <gtest/gtest.h>

#include <string_view>

#include "framework/base/event.h"
#include "framework/coll/collective.h"

namespace ashlar::coll {
namespace {

const char* const* words_of(std::string_view name) {
  for (const event::Type* type : event::kernel_types())
    if (type->name == name) return type->choices;
  return nullptr;
}

// An event's field `collective` is the number of the collective, and the field `algorithm` is found by its name.
TEST(EventWordsTest, CollectivesComeFirstInTheirOrder) {
  for (const char* event : {"coll.begin", "coll.end"}) {
    const char* const* const words = words_of(event);
    ASSERT_NE(words, nullptr) << event;
    for (int i = 0; i < kCollectives; ++i) EXPECT_STREQ(words[i], name_of(static_cast<Collective>(i)));
  }
}

TEST(EventWordsTest, AnAlgorithmHasItsWordAndOneFromElsewhereTheLast) {
  const char* const* const words = words_of("coll.begin");
  ASSERT_NE(words, nullptr);
  for (unsigned i = kCollectives; words[i] != nullptr; ++i) EXPECT_EQ(algorithm_word(words[i]), i);
  const unsigned other = algorithm_word("made_elsewhere");
  EXPECT_STREQ(words[other], "another");
  EXPECT_EQ(words[other + 1], nullptr);
  EXPECT_EQ(algorithm_word("barrier"), other) << "the name of a collective is none of an algorithm";
}

}  // namespace
}  // namespace ashlar::coll
