#include "mpiexec/text.h"

#include <gtest/gtest.h>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"

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

TEST(Text, BriefTextsKeepBothEndsAndWholeCharacters) {
  EXPECT_EQ(brief("a\nb"), "a\\nb");
  const std::string exactly(200, 'x');
  EXPECT_EQ(brief(exactly), exactly);
  EXPECT_EQ(brief("/begin" + std::string(500, 'x') + "end"),
            "/begin" + std::string(94, 'x') + "..." + std::string(97, 'x') + "end");
  std::string euros;
  for (int i = 0; i < 100; ++i) euros += "\u20ac";
  std::string half;
  for (int i = 0; i < 33; ++i) half += "\u20ac";
  EXPECT_EQ(brief(euros), half + "..." + half);
}

TEST(Text, AFailureHasALineForEachAdvice) {
  EXPECT_EQ(
      in_words(fail(kErrArg, "option.unknown", {{"option", "--wdri"}, {"tool", "mpiexec"}, {"suggestion", "--wdir"}})),
      "unknown option --wdri\n- Did you mean --wdir?\n- mpiexec --help lists the options.");
  EXPECT_EQ(in_words(fail(kErrArg, "option.unknown", {{"option", "--xyzzy"}, {"tool", "mpiexec"}, {"suggestion", ""}})),
            "unknown option --xyzzy\n- mpiexec --help lists the options.");
  EXPECT_EQ(in_words(fail(kErrArg, "option.after_colon")), "nothing follows the last colon");
  EXPECT_EQ(in_words(Status()), "");
}

TEST(Text, LinesOfAdviceHangUnderTheirText) {
  const std::string words = std::string(90, 'x') + " second";
  testing::internal::CaptureStderr();
  say(words + "\n- " + words + "\nlast");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "mpiexec: " + std::string(90, 'x') + "\n  second\n  - " + std::string(90, 'x') + "\n    second\n  last\n");
}

}  // namespace
}  // namespace ashlar::mpiexec
