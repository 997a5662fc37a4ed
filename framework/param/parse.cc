#include "framework/param/parse.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "framework/base/bytes_text.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/units.h"

namespace ashlar::param {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// As much of a wrong value as a message shows.
std::string_view head(std::string_view text) { return text.substr(0, 100); }

Status refuse(std::string_view text, const char* expected) {
  return fail(kErrArg, "param.not_a", {{"value", head(text)}, {"wanted", expected}});
}

bool same_word(std::string_view a, const char* b) {
  return a.size() == std::strlen(b) && strncasecmp(a.data(), b, a.size()) == 0;
}

Status parse_bool(std::string_view text, bool* out) {
  for (const char* word : kTrueWords) {
    if (same_word(text, word)) {
      *out = true;
      return {};
    }
  }
  for (const char* word : kFalseWords) {
    if (same_word(text, word)) {
      *out = false;
      return {};
    }
  }
  return refuse(text, "a switch: write true, yes, on, 1 or false, no, off, 0");
}

template <class T>
Status parse_integer(std::string_view text, T* out, const char* expected) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc::result_out_of_range) {
    return fail(kErrArg, "param.too_large",
                {{"value", head(text)}, {"most", std::numeric_limits<std::int64_t>::max()}});
  }
  if (error != std::errc{} || end != text.data() + text.size()) return refuse(text, expected);
  return {};
}

// A number, whole or with a fraction, and a unit of `units`.
template <std::size_t N>
Status parse_quantity(std::string_view text, const Unit (&units)[N], bool unit_needed, const char* expected,
                      std::uint64_t* out) {
  std::size_t digits = 0;
  while (digits < text.size() && ((text[digits] >= '0' && text[digits] <= '9') || text[digits] == '.')) ++digits;
  if (digits == 0) return refuse(text, expected);
  const std::string_view number = text.substr(0, digits);
  const std::string_view unit = trim(text.substr(digits));
  const Unit* found = nullptr;
  for (const Unit& u : units) {
    if (u.name == unit) found = &u;
  }
  // Zero is the same in every unit.
  if (!found && unit.empty() && unit_needed && number == "0") found = &units[0];
  if (!found) {
    if (unit.empty()) return fail(kErrArg, "param.no_unit", {{"value", head(text)}, {"wanted", expected}});
    return fail(kErrArg, "param.unknown_unit", {{"value", head(text)}, {"unit", head(unit)}, {"wanted", expected}});
  }
  if (number.find('.') == std::string_view::npos) {
    std::uint64_t whole = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), whole);
    (void)end;
    if (error != std::errc{} || __builtin_mul_overflow(whole, found->factor, out))
      return fail(kErrArg, "param.too_many_bits", {{"value", head(text)}});
    return {};
  }
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || end != number.data() + number.size()) return refuse(text, expected);
  value *= static_cast<double>(found->factor);
  if (value >= 18446744073709551615.0) return fail(kErrArg, "param.too_many_bits", {{"value", head(text)}});
  *out = static_cast<std::uint64_t>(std::llround(value));
  return {};
}

Status parse_f64(std::string_view text, double* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(*out))
    return refuse(text, "a number, such as 0.25 or 1e6");
  return {};
}

Status parse_enum(const ashlar_param& row, std::string_view text, std::int32_t* out) {
  std::string words;
  for (std::int32_t i = 0; row.choices && row.choices[i]; ++i) {
    if (same_word(text, row.choices[i])) {
      *out = i;
      return {};
    }
    if (i) words += row.choices[i + 1] ? ", " : " or ";
    words += row.choices[i];
  }
  return fail(kErrArg, "param.no_choice", {{"value", head(text)}, {"wanted", words}});
}

std::string duration_text(std::uint64_t ns) {
  const Unit* largest = &kTimeUnits[0];
  for (const Unit& unit : kTimeUnits)
    if (ns >= unit.factor && ns % unit.factor == 0) largest = &unit;
  return std::to_string(ns / largest->factor) + std::string(largest->name);
}

Status parse_plain(const ashlar_param& row, std::string_view text, Parsed* out) {
  out->type = row.type;
  out->text = text;
  const std::string_view word = trim(text);
  switch (row.type) {
    case ASHLAR_PARAM_BOOL:
      return parse_bool(word, &out->flag);
    case ASHLAR_PARAM_I64:
      return parse_integer(word, &out->i64, "a whole number, such as 4 or -1");
    case ASHLAR_PARAM_U64:
      return parse_integer(word, &out->u64, "a whole number that is not negative, such as 64");
    case ASHLAR_PARAM_BYTES:
      return parse_bytes(word, &out->u64);
    case ASHLAR_PARAM_F64:
      return parse_f64(word, &out->f64);
    case ASHLAR_PARAM_STRING:
      return {};
    case ASHLAR_PARAM_ENUM:
      return parse_enum(row, word, &out->choice);
    case ASHLAR_PARAM_DURATION:
      return parse_quantity(word, kTimeUnits, true, "a time with its unit, such as 10us, 5ms, 2s or 1min", &out->u64);
  }
  return fail(kErrIntern, "param.unknown_type", {{"value", static_cast<int>(row.type)}});
}

bool has_range(const ashlar_param& row) {
  const bool number = row.type != ASHLAR_PARAM_BOOL && row.type != ASHLAR_PARAM_STRING && row.type != ASHLAR_PARAM_ENUM;
  return number && row.choices != nullptr;
}

bool at_most(const Parsed& a, const Parsed& b) {
  if (a.type == ASHLAR_PARAM_I64) return a.i64 <= b.i64;
  if (a.type == ASHLAR_PARAM_F64) return a.f64 <= b.f64;
  return a.u64 <= b.u64;
}

// A bound that cannot be read does not count: check_range has refused the component.
bool in_range(const ashlar_param& row, const Parsed& value) {
  Parsed least, most, besides;
  if (!row.choices[0] || !row.choices[1]) return true;
  if (!parse_plain(row, row.choices[0], &least).ok() || !parse_plain(row, row.choices[1], &most).ok()) return true;
  if (at_most(least, value) && at_most(value, most)) return true;
  for (const char* const* word = row.choices + 2; *word; ++word) {
    if (parse_plain(row, *word, &besides).ok() && at_most(besides, value) && at_most(value, besides)) return true;
  }
  return false;
}

}  // namespace

Status parse(const ashlar_param& row, std::string_view text, Parsed* out) {
  ASHLAR_TRY(parse_plain(row, text, out));
  if (!has_range(row) || in_range(row, *out)) return {};
  return fail(kErrArg, "param.outside_range", {{"value", head(text)}, {"wanted", range_in_words(row)}});
}

Status parse_bytes(std::string_view text, std::uint64_t* out) {
  return parse_quantity(text, kByteUnits, false, "a size in bytes, such as 8192, 8KiB, 4M or 1GiB", out);
}

std::string range_in_words(const ashlar_param& row) {
  if (!has_range(row) || !row.choices[0] || !row.choices[1]) return {};
  std::string words = std::string(row.choices[0]) + " to " + row.choices[1];
  for (const char* const* word = row.choices + 2; *word; ++word) words += std::string(", or ") + *word;
  return words;
}

Status check_range(const ashlar_param& row) {
  if (!has_range(row)) return {};
  if (!row.choices[0] || !row.choices[1]) return fail(kErrArg, "param.range_ends");
  Parsed least, most, value;
  for (const char* const* word = row.choices; *word; ++word) ASHLAR_TRY(parse_plain(row, *word, &value));
  ASHLAR_TRY(parse_plain(row, row.choices[0], &least));
  ASHLAR_TRY(parse_plain(row, row.choices[1], &most));
  if (!at_most(least, most)) return fail(kErrArg, "param.range_order");
  return parse(row, row.fallback ? row.fallback : "", &value);
}

std::string format(const ashlar_param& row, const Parsed& value) {
  switch (row.type) {
    case ASHLAR_PARAM_BOOL:
      return value.flag ? "true" : "false";
    case ASHLAR_PARAM_I64:
      return std::to_string(value.i64);
    case ASHLAR_PARAM_U64:
      return std::to_string(value.u64);
    case ASHLAR_PARAM_BYTES:
      return bytes_text(value.u64);
    case ASHLAR_PARAM_F64: {
      char text[40];
      std::snprintf(text, sizeof text, "%g", value.f64);
      return text;
    }
    case ASHLAR_PARAM_STRING:
      return std::string(value.text);
    case ASHLAR_PARAM_ENUM:
      return row.choices[value.choice];
    case ASHLAR_PARAM_DURATION:
      return duration_text(value.u64);
  }
  return {};
}

const char* type_name(ashlar_param_type type) {
  switch (type) {
    case ASHLAR_PARAM_BOOL:
      return "switch";
    case ASHLAR_PARAM_I64:
      return "integer";
    case ASHLAR_PARAM_U64:
      return "count";
    case ASHLAR_PARAM_BYTES:
      return "bytes";
    case ASHLAR_PARAM_F64:
      return "number";
    case ASHLAR_PARAM_STRING:
      return "text";
    case ASHLAR_PARAM_ENUM:
      return "choice";
    case ASHLAR_PARAM_DURATION:
      return "duration";
  }
  return "unknown";
}

const char* scope_name(int scope) {
  constexpr const char* kNames[] = {"?", "constant", "read-only", "local", "group", "group-equal", "all", "all-equal"};
  return scope >= 1 && scope <= 7 ? kNames[scope] : kNames[0];
}

namespace {
struct LevelName {
  int level;
  const char* name;
};
constexpr LevelName kLevels[] = {
    {ASHLAR_USER_BASIC, "user-basic"},     {ASHLAR_USER_DETAIL, "user-detail"},     {ASHLAR_USER_ALL, "user-all"},
    {ASHLAR_TUNER_BASIC, "tuner-basic"},   {ASHLAR_TUNER_DETAIL, "tuner-detail"},   {ASHLAR_TUNER_ALL, "tuner-all"},
    {ASHLAR_DEV_BASIC, "developer-basic"}, {ASHLAR_DEV_DETAIL, "developer-detail"}, {ASHLAR_DEV_ALL, "developer-all"}};
}  // namespace

const char* level_name(int verbosity) {
  for (const LevelName& l : kLevels) {
    if (l.level == verbosity) return l.name;
  }
  return "?";
}

int level_from_name(std::string_view name) {
  for (const LevelName& l : kLevels) {
    if (name == l.name) return l.level;
  }
  return 0;
}

}  // namespace ashlar::param
