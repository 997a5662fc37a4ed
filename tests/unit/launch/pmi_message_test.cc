#include "components/launch/pmi/message.h"

#include <gtest/gtest.h>

#include <string>

namespace ashlar::launch {
namespace {

struct Result {
  Cut cut;
  PmiMessage message;
  std::string left, why;
};
Result cut(Framing framing, std::string bytes) {
  Result result;
  const char* why = "";
  result.cut = cut_message(framing, &bytes, &result.message, &why);
  result.left = bytes;
  result.why = why;
  return result;
}
std::string value(const PmiMessage& message, const char* name) {
  const std::string* const found = message.find(name);
  return found ? *found : "(none)";
}

TEST(PmiMessage, IsWrittenInBothFramings) {
  PmiMessage message("kvs-put");
  message.add("key", "a").add("value", "b;c").add("rank", 3);
  EXPECT_EQ(pmi_text(Framing::kLine, message), "cmd=kvs-put key=a value=b;c rank=3\n");
  EXPECT_EQ(pmi_text(Framing::kFrame, message), "    36cmd=kvs-put;key=a;value=b;;c;rank=3;");
}

TEST(PmiMessage, ALineIsCutAtItsEnd) {
  const Result whole = cut(Framing::kLine, "cmd=maxes kvsname_max=256 success vallen_max=1024 \ncmd=next");
  EXPECT_EQ(whole.cut, Cut::kWhole);
  EXPECT_EQ(whole.message.command(), "maxes");
  std::int64_t number = 0;
  EXPECT_TRUE(whole.message.number("vallen_max", &number));
  EXPECT_EQ(number, 1024);
  EXPECT_EQ(whole.left, "cmd=next");
  EXPECT_EQ(cut(Framing::kLine, "cmd=get_result value=a=b==\n").message.find("value")->size(), 5u)
      << "the first = counts";
  EXPECT_EQ(value(cut(Framing::kLine, "cmd=get_result value=\n").message, "value"), "");
}

TEST(PmiMessage, APartIsLeftAlone) {
  for (const Framing framing : {Framing::kLine, Framing::kFrame}) {
    const std::string whole = pmi_text(framing, PmiMessage("x").add("key", "value"));
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      const Result part = cut(framing, whole.substr(0, bytes));
      EXPECT_EQ(part.cut, Cut::kPart) << bytes;
      EXPECT_EQ(part.left.size(), bytes);
    }
    EXPECT_EQ(cut(framing, whole + whole).left, whole);
  }
}

TEST(PmiMessage, LengthsHaveBlanksOnEitherSide) {
  for (const char* length : {"    11", "11    ", "  11  ", "000011"}) {
    const Result result = cut(Framing::kFrame, std::string(length) + "cmd=a;b=;;;rest");
    EXPECT_EQ(result.cut, Cut::kWhole) << length;
    EXPECT_EQ(value(result.message, "b"), ";") << length;
    EXPECT_EQ(result.left, "rest");
  }
}

TEST(PmiMessage, WhatIsNoMessageIsSaid) {
  for (const char* text : {"\n", " \n", "=\n", "cmd\n", "cmd=\n", "rc=0 cmd=x\n", "\xff\x01\x02\n"})
    EXPECT_EQ(cut(Framing::kLine, text).cut, Cut::kWrong) << text;
  for (const char* text : {"      ", "x    1", "-00001a", "1 2   cmd=a;", "     0", "999999", "     3abc",
                           "     7cmd=a;;", "     5cmd=a", "     8a;b=c;d;", "     2=;", "     5cmd=;"})
    EXPECT_EQ(cut(Framing::kFrame, text).cut, Cut::kWrong) << text;
  EXPECT_STRNE(cut(Framing::kFrame, "noise!").why.c_str(), "");
}

TEST(PmiMessage, NoServerCanMakeUsKeepMoreThanTheBound) {
  EXPECT_EQ(cut(Framing::kLine, std::string(kLongestMessage, 'x')).cut, Cut::kPart);
  EXPECT_EQ(cut(Framing::kLine, std::string(kLongestMessage + 1, 'x')).cut, Cut::kWrong);
}

TEST(PmiMessage, NumbersAreWhole) {
  PmiMessage message("x");
  message.add("a", "12x").add("b", "").add("c", "99999999999").add("d", "-1").add("e", " 1");
  std::int64_t number = 0;
  for (const char* name : {"a", "b", "c", "e", "absent"}) EXPECT_FALSE(message.number(name, &number)) << name;
  EXPECT_TRUE(message.number("d", &number));
  EXPECT_EQ(number, -1);
}

}  // namespace
}  // namespace ashlar::launch
