#include "mpiexec/info/schema_values.h"

#include <cctype>
#include <cstring>
#include <string_view>

#include "framework/param/parse.h"
#include "framework/param/units.h"
#include "mpiexec/info/json_builder.h"
#include "mpiexec/info/number_pattern.h"

namespace ashlar::info {
namespace {

using plugin::json_string;

/// A word in any case, as a part of a regular expression.
std::string in_any_case(std::string_view word) {
  std::string out;
  for (const char c : word) {
    const int low = std::tolower(static_cast<unsigned char>(c)), up = std::toupper(static_cast<unsigned char>(c));
    if (low != up) {
      out += {'[', static_cast<char>(low), static_cast<char>(up), ']'};
    } else {
      if (std::strchr(".+*?()[]{}|^$\\", c) != nullptr) out += '\\';
      out += c;
    }
  }
  return out;
}

/// The parser takes blanks around a value.
std::string with_blanks(const std::string& pattern) { return "^[ \\t]*(?:" + pattern + ")[ \\t]*$"; }

bool has_range(const ashlar_param& row) {
  return row.choices != nullptr && row.choices[0] != nullptr && row.choices[1] != nullptr;
}

/// The number that a bound of a row's range stands for, as JSON writes it.
std::string bound(const ashlar_param& row, const char* text) {
  ashlar_param free = row;
  free.choices = nullptr;
  param::Parsed parsed;
  if (!param::parse(free, text, &parsed).ok()) return "0";
  if (row.type == ASHLAR_PARAM_I64) return std::to_string(parsed.i64);
  return row.type == ASHLAR_PARAM_F64 ? param::format(free, parsed) : std::to_string(parsed.u64);
}

/// Limits of numbers that are written without a unit; texts are not concerned.
void add_limits(const ashlar_param& row, Json* schema) {
  if (!has_range(row)) {
    if (row.type == ASHLAR_PARAM_U64 || row.type == ASHLAR_PARAM_BYTES) schema->add("minimum", "0");
    return;
  }
  Json range('{');
  range.add("minimum", bound(row, row.choices[0])).add("maximum", bound(row, row.choices[1]));
  if (row.choices[2] == nullptr) {
    schema->add("minimum", bound(row, row.choices[0])).add("maximum", bound(row, row.choices[1]));
    return;
  }
  Json besides('[');
  for (const char* const* word = row.choices + 2; *word != nullptr; ++word) besides.add(bound(row, *word));
  schema->add("anyOf", Json('[').add(range.text()).add(Json('{').add("enum", besides.text()).text()).text());
}

/// A whole number between quotes. A range that begins below zero is left to the loader.
std::string integer_pattern(const ashlar_param& row) {
  std::string digits = row.type == ASHLAR_PARAM_I64 ? "-?[0-9]+" : "[0-9]+";
  if (has_range(row) && bound(row, row.choices[0])[0] != '-') {
    digits = whole_numbers(std::stoull(bound(row, row.choices[0])), std::stoull(bound(row, row.choices[1])));
    for (const char* const* word = row.choices + 2; *word != nullptr; ++word) digits += "|" + bound(row, *word);
  }
  return with_blanks(digits);
}

std::string wanted(const ashlar_param& row) {
  std::string what = "a number";
  if (row.type == ASHLAR_PARAM_I64 || row.type == ASHLAR_PARAM_U64) what = "a whole number";
  if (row.type == ASHLAR_PARAM_BYTES) what = "a size such as 8192, 8KiB, 4M or 1GiB";
  if (row.type == ASHLAR_PARAM_DURATION) what = "a time with its unit, such as 10us, 5ms, 2s or 1min";
  const std::string range = param::range_in_words(row);
  return "This must be " + what + (range.empty() ? "." : ", from " + range + ".");
}

std::string number_schema(const ashlar_param& row, const char* types, const std::string& pattern) {
  Json schema('{');
  schema.add("type", types);
  add_limits(row, &schema);
  return schema.add("pattern", json_string(pattern)).add("patternErrorMessage", json_string(wanted(row))).text();
}

std::string duration_schema(const ashlar_param& row) {
  const std::string pattern = quantity_pattern(row);
  // Without a unit only zero is a time, where the range holds it; its pattern ends in "|0".
  if (pattern.find("|0)") == pattern.npos) return text_like(pattern, wanted(row));
  return Json('{')
      .add("if", R"({"type":"integer"})")
      .add("then", Json('{').add("enum", "[0]").add("errorMessage", json_string(wanted(row))).text())
      .add("else", text_like(pattern, wanted(row)))
      .text();
}

std::string choice_schema(const ashlar_param& row) {
  Json words('[');
  std::string pattern;
  for (int i = 0; row.choices != nullptr && row.choices[i] != nullptr; ++i) {
    const std::string_view word = row.choices[i];
    words.add(json_string(word));
    if (word == "true" || word == "false") words.add(std::string(word));  // YAML reads them as booleans
    pattern += (i > 0 ? "|" : "") + in_any_case(word);
  }
  // The words for completion, and any case of them.
  const std::string any_case =
      Json('{').add("type", R"("string")").add("pattern", json_string(with_blanks(pattern))).text();
  return Json('{').add("anyOf", Json('[').add(Json('{').add("enum", words.text()).text()).add(any_case).text()).text();
}

}  // namespace

std::string text_like(const std::string& pattern, const std::string& wanted) {
  return Json('{')
      .add("type", R"("string")")
      .add("pattern", json_string(pattern))
      .add("patternErrorMessage", json_string(wanted))
      .text();
}

std::string switch_schema() {
  std::string words;
  for (const auto& list : {param::kTrueWords, param::kFalseWords})
    for (int i = 0; i < 4; ++i) words += (words.empty() ? "" : "|") + in_any_case(list[i]);
  return Json('{')
      .add("type", R"(["boolean","integer","string"])")
      .add("minimum", "0")
      .add("maximum", "1")
      .add("pattern", json_string(with_blanks(words)))
      .add("patternErrorMessage", json_string("This must be true or false."))
      .text();
}

std::string scalar_schema(const ashlar_param& row) {
  switch (row.type) {
    case ASHLAR_PARAM_BOOL:
      return switch_schema();
    case ASHLAR_PARAM_ENUM:
      return choice_schema(row);
    case ASHLAR_PARAM_I64:
    case ASHLAR_PARAM_U64:
      return number_schema(row, R"(["integer","string"])", integer_pattern(row));
    case ASHLAR_PARAM_F64:
      return number_schema(row, R"(["number","string"])",
                           with_blanks("-?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][-+]?[0-9]+)?"));
    case ASHLAR_PARAM_BYTES:
      return number_schema(row, R"(["number","string"])", quantity_pattern(row));
    case ASHLAR_PARAM_DURATION:
      return duration_schema(row);
    case ASHLAR_PARAM_STRING:
      break;
  }
  return R"({"type":["string","number","boolean"]})";
}

std::string fallback_of(const ashlar_param& row) {
  const std::string text = row.fallback != nullptr ? row.fallback : "";
  const bool number = row.type == ASHLAR_PARAM_I64 || row.type == ASHLAR_PARAM_U64;
  const bool word = row.type == ASHLAR_PARAM_BOOL && (text == "true" || text == "false");
  return (number && !text.empty()) || word ? text : json_string(text);
}

std::string examples_of(const ashlar_param& row) {
  if (row.type == ASHLAR_PARAM_BOOL) return "[true,false]";
  Json words('[');
  for (int i = 0; row.type == ASHLAR_PARAM_ENUM && row.choices != nullptr && row.choices[i] != nullptr; ++i)
    words.add(json_string(row.choices[i]));
  return words.text();
}

std::string reference(const std::string& definition) {
  return Json('{').add("$ref", json_string("#/definitions/" + definition)).text();
}

std::string description(const param::Row& row) {
  const ashlar_param& spec = *row.spec;
  std::string out = spec.help;
  if (const std::string range = param::range_in_words(spec); !range.empty()) out += " From " + range + ".";
  const std::string text = spec.fallback != nullptr ? spec.fallback : "";
  out +=
      "\n\nType " + std::string(param::type_name(spec.type)) + "; built in: " + (text.empty() ? "empty" : text) + ".";
  return out + " In the environment: " + param::environment_name(row.key) + ".";
}

}  // namespace ashlar::info
