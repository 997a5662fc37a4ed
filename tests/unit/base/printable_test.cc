#include "framework/base/printable.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

using namespace std::string_literals;

TEST(Printable, LeavesTextOfEveryScriptAlone) {
  for (const std::string& text : {""s, "plain text, ~!@#\\"s, "Größe 数値 размер 🙂"s, "a\u00a0b"s})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ShowsControlCharacters) {
  EXPECT_EQ(printable("a\x1b[2J\x07"), "a\\x1b[2J\\x07");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable("a\0b\x7f"s), "a\\x00b\\x7f");
  // C1: many terminals take U+009B for ESC [.
  EXPECT_EQ(printable("\u009b2J"), "\\u009b2J");
}

TEST(Printable, ShowsWhatChangesTheDirectionOfWriting) {
  EXPECT_EQ(printable("\u202eevil\u2066x\u2028y\ufeffz\u061c"), "\\u202eevil\\u2066x\\u2028y\\ufeffz\\u061c");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\x9b[2J"), "\\x9b[2J");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");                    // overlong
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");           // overlong, three bytes
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("caf\xc3"), "caf\\xc3");  // cut in the middle
  EXPECT_EQ(printable("\xc3(x"), "\\xc3(x");
}

TEST(Printable, KeepsNewlinesOfParagraphs) { EXPECT_EQ(printable("a\n  b\x1b\n", Newlines::keep), "a\n  b\\x1b\n"); }

TEST(Printable, FillsABufferWithWholeSequences) {
  char out[8];
  EXPECT_EQ(printable("ab\x1b"
                      "cdef",
                      out, sizeof out),
            7u);
  EXPECT_STREQ(out, "ab\\x1bc");
  EXPECT_EQ(printable("abcdef\u00e9", out, sizeof out), 6u);
  EXPECT_STREQ(out, "abcdef");
  EXPECT_EQ(printable("abcd\x1b", out, sizeof out), 4u);
  EXPECT_STREQ(out, "abcd");
  EXPECT_EQ(printable("abc", out, 1), 0u);
  EXPECT_STREQ(out, "");
  EXPECT_EQ(printable("abc", out, 0), 0u);
}

}  // namespace
}  // namespace ashlar
