#include "framework/param/parse.h"

#include <gmock/gmock.h>

namespace ashlar::param {
namespace {

using testing::HasSubstr;

const char* const kColours[] = {"red", "green", nullptr};

ashlar_param row(ashlar_param_type type) {
  return {"x",
          "",
          "help",
          type,
          ASHLAR_SCOPE_LOCAL,
          ASHLAR_USER_BASIC,
          0,
          0,
          type == ASHLAR_PARAM_ENUM ? kColours : nullptr};
}

Parsed read(ashlar_param_type type, const char* text) {
  Parsed parsed;
  const Status status = parse(row(type), text, &parsed);
  EXPECT_TRUE(status.ok()) << text << ": " << status.text();
  return parsed;
}

std::string refusal(ashlar_param_type type, const char* text) {
  Parsed parsed;
  const Status status = parse(row(type), text, &parsed);
  EXPECT_FALSE(status.ok()) << text;
  return status.text();
}

TEST(Parse, SwitchesInEverySpelling) {
  for (const char* text : {"true", "Yes", "ON", "1", " on "}) EXPECT_TRUE(read(ASHLAR_PARAM_BOOL, text).flag) << text;
  for (const char* text : {"false", "no", "Off", "0"}) EXPECT_FALSE(read(ASHLAR_PARAM_BOOL, text).flag) << text;
  EXPECT_THAT(refusal(ASHLAR_PARAM_BOOL, "maybe"), HasSubstr("'maybe' is not a switch"));
  EXPECT_THAT(refusal(ASHLAR_PARAM_BOOL, ""), HasSubstr("is not a switch"));
}

TEST(Parse, WholeNumbers) {
  EXPECT_EQ(read(ASHLAR_PARAM_I64, "-12").i64, -12);
  EXPECT_EQ(read(ASHLAR_PARAM_U64, "18446744073709551615").u64, ~std::uint64_t{0});
  EXPECT_THAT(refusal(ASHLAR_PARAM_U64, "-1"), HasSubstr("not negative"));
  EXPECT_THAT(refusal(ASHLAR_PARAM_I64, "12x"), HasSubstr("whole number"));
  EXPECT_THAT(refusal(ASHLAR_PARAM_I64, "99999999999999999999"), HasSubstr("too large"));
}

TEST(Parse, BytesWithUnits) {
  EXPECT_EQ(read(ASHLAR_PARAM_BYTES, "8192").u64, 8192u);
  EXPECT_EQ(read(ASHLAR_PARAM_BYTES, "8KiB").u64, 8192u);
  EXPECT_EQ(read(ASHLAR_PARAM_BYTES, "4M").u64, 4u << 20);
  EXPECT_EQ(read(ASHLAR_PARAM_BYTES, "1 GiB").u64, 1u << 30);
  EXPECT_EQ(read(ASHLAR_PARAM_BYTES, "1.5K").u64, 1536u);
  EXPECT_EQ(read(ASHLAR_PARAM_BYTES, "1kB").u64, 1000u);
  EXPECT_THAT(refusal(ASHLAR_PARAM_BYTES, "8Kb"), HasSubstr("unknown unit 'Kb'"));
  EXPECT_THAT(refusal(ASHLAR_PARAM_BYTES, "-8"), HasSubstr("a size in bytes"));
  EXPECT_THAT(refusal(ASHLAR_PARAM_BYTES, "99999999999999TiB"), HasSubstr("does not fit"));
  EXPECT_THAT(refusal(ASHLAR_PARAM_BYTES, "1.2.3K"), HasSubstr("a size in bytes"));
}

TEST(Parse, DurationsNeedTheirUnit) {
  EXPECT_EQ(read(ASHLAR_PARAM_DURATION, "10us").u64, 10000u);
  EXPECT_EQ(read(ASHLAR_PARAM_DURATION, "1.5ms").u64, 1500000u);
  EXPECT_EQ(read(ASHLAR_PARAM_DURATION, "1min").u64, 60000000000u);
  EXPECT_EQ(read(ASHLAR_PARAM_DURATION, "0").u64, 0u);
  EXPECT_THAT(refusal(ASHLAR_PARAM_DURATION, "10"), HasSubstr("'10' has no unit"));
}

TEST(Parse, NumbersAndChoices) {
  EXPECT_DOUBLE_EQ(read(ASHLAR_PARAM_F64, "0.25").f64, 0.25);
  EXPECT_THAT(refusal(ASHLAR_PARAM_F64, "inf"), HasSubstr("a number"));
  EXPECT_EQ(read(ASHLAR_PARAM_ENUM, "Green").choice, 1);
  EXPECT_THAT(refusal(ASHLAR_PARAM_ENUM, "blue"), HasSubstr("red or green"));
}

TEST(Parse, FormatsWithTheLargestUnitThatIsExact) {
  const auto canonical = [](ashlar_param_type type, const char* text) { return format(row(type), read(type, text)); };
  EXPECT_EQ(canonical(ASHLAR_PARAM_BYTES, "16384"), "16KiB");
  EXPECT_EQ(canonical(ASHLAR_PARAM_BYTES, "1000"), "1000");
  EXPECT_EQ(canonical(ASHLAR_PARAM_DURATION, "60000ms"), "1min");
  EXPECT_EQ(canonical(ASHLAR_PARAM_BOOL, "on"), "true");
  EXPECT_EQ(canonical(ASHLAR_PARAM_ENUM, "RED"), "red");
}

// What a row of this type with the range of `words` says to `text`; "" when it takes it.
std::string ranged(ashlar_param_type type, const char* const* words, const char* text) {
  ashlar_param r = row(type);
  r.choices = words;
  Parsed parsed;
  const Status status = parse(r, text, &parsed);
  return status.ok() ? "" : status.text();
}

TEST(Parse, ValuesOutsideTheRangeOfTheirRowAreRefused) {
  const char* const sizes[] = {"8KiB", "64MiB", nullptr};
  for (const char* text : {"8KiB", "8192", "64M", "1MiB"})
    EXPECT_EQ(ranged(ASHLAR_PARAM_BYTES, sizes, text), "") << text;
  EXPECT_EQ(ranged(ASHLAR_PARAM_BYTES, sizes, "900TiB"), "'900TiB' is outside its range, 8KiB to 64MiB");
  for (const char* text : {"0", "8191", "67108865"}) EXPECT_NE(ranged(ASHLAR_PARAM_BYTES, sizes, text), "") << text;
  const char* const besides[] = {"4KiB", "1GiB", "0", "17", nullptr};
  EXPECT_EQ(ranged(ASHLAR_PARAM_BYTES, besides, "0"), "");
  EXPECT_EQ(ranged(ASHLAR_PARAM_BYTES, besides, "17"), "");
  EXPECT_EQ(ranged(ASHLAR_PARAM_BYTES, besides, "18"), "'18' is outside its range, 4KiB to 1GiB, or 0, or 17");
  const char* const signed_ones[] = {"-5", "5", nullptr};
  EXPECT_EQ(ranged(ASHLAR_PARAM_I64, signed_ones, "-5"), "");
  EXPECT_NE(ranged(ASHLAR_PARAM_I64, signed_ones, "-6"), "");
  const char* const times[] = {"1ms", "1h", nullptr};
  EXPECT_EQ(ranged(ASHLAR_PARAM_DURATION, times, "60min"), "");
  EXPECT_NE(ranged(ASHLAR_PARAM_DURATION, times, "999us"), "");
  const char* const parts[] = {"0", "1", nullptr};
  EXPECT_EQ(ranged(ASHLAR_PARAM_F64, parts, "0.5"), "");
  EXPECT_NE(ranged(ASHLAR_PARAM_F64, parts, "1.01"), "");
}

TEST(Parse, RangesOfComponentsAreHeldAgainstTheirDefaults) {
  const auto judged = [](const char* const* words, const char* fallback) {
    ashlar_param r = row(ASHLAR_PARAM_U64);
    r.choices = words;
    r.fallback = fallback;
    const Status status = check_range(r);
    return std::string(status.ok() ? "" : status.text());
  };
  const char *const right[] = {"1", "16", nullptr}, *const half[] = {"1", nullptr},
                    *const turned[] = {"16", "1", nullptr}, *const unread[] = {"1", "many", nullptr},
                    *const besides[] = {"1", "2", "all", nullptr};
  EXPECT_EQ(judged(right, "4"), "");
  EXPECT_EQ(judged(nullptr, "4"), "");
  EXPECT_THAT(judged(right, "17"), HasSubstr("'17' is outside its range, 1 to 16"));
  EXPECT_THAT(judged(half, "1"), HasSubstr("no two ends"));
  EXPECT_THAT(judged(turned, "1"), HasSubstr("ends before it begins"));
  EXPECT_THAT(judged(unread, "1"), HasSubstr("'many' is not a whole number"));
  EXPECT_THAT(judged(besides, "1"), HasSubstr("'all' is not a whole number"));
}

}  // namespace
}  // namespace ashlar::param
