#include "mpiexec/info/schema.h"

#include <cctype>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "framework/param/condition.h"
#include "framework/param/parse.h"
#include "framework/param/units.h"
#include "framework/plugin/records.h"
#include "mpiexec/info/number_pattern.h"

namespace ashlar::info {
namespace {

using plugin::json_string;

/// A JSON object or array in the making; members are JSON already.
class Json {
 public:
  explicit Json(char open) : text_(1, open), close_(open == '{' ? '}' : ']') {}
  Json& add(std::string_view name, const std::string& value) { return add(json_string(name) + ":" + value); }
  Json& add(const std::string& member) {
    if (text_.size() > 1) text_ += ",";
    text_ += member;
    return *this;
  }
  std::string text() const { return text_ + close_; }

 private:
  std::string text_;
  char close_;
};

std::string any_of(const std::vector<std::string>& schemas) {
  if (schemas.size() == 1) return schemas.front();
  Json list('[');
  for (const std::string& schema : schemas) list.add(schema);
  return Json('{').add("anyOf", list.text()).text();
}

std::string reference(const std::string& definition) {
  return Json('{').add("$ref", json_string("#/definitions/" + definition)).text();
}

std::string text_like(const std::string& pattern) {
  return Json('{').add("type", R"("string")").add("pattern", json_string(pattern)).text();
}

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

// ---- one value ------------------------------------------------------------------------------------------------------

// YAML makes a boolean or a number of a word that looks like one; each row names the forms that its words can take.

std::string switch_schema() {
  std::string words;
  for (const auto& list : {param::kTrueWords, param::kFalseWords})
    for (int i = 0; i < 4; ++i) words += (words.empty() ? "" : "|") + in_any_case(list[i]);
  return any_of({R"({"type":"boolean"})", R"({"enum":[0,1]})", text_like("^[ \\t]*(?:" + words + ")[ \\t]*$")});
}

std::string choice_schema(const ashlar_param& row) {
  Json words('[');
  std::string pattern;
  for (int i = 0; row.choices != nullptr && row.choices[i] != nullptr; ++i) {
    const std::string_view word = row.choices[i];
    words.add(json_string(word));
    if (word == "true" || word == "false") words.add(std::string(word));  // YAML reads them as booleans
    pattern += (i > 0 ? "|" : "") + in_any_case(row.choices[i]);
  }
  return any_of({Json('{').add("enum", words.text()).text(), text_like("^[ \\t]*(?:" + pattern + ")[ \\t]*$")});
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

bool has_range(const ashlar_param& row) {
  return row.choices != nullptr && row.choices[0] != nullptr && row.choices[1] != nullptr;
}

/// Numbers that are written without a unit.
std::string plain_numbers(const ashlar_param& row, const char* type) {
  Json range('{');
  range.add("type", json_string(type));
  if (!has_range(row)) {
    if (row.type == ASHLAR_PARAM_U64 || row.type == ASHLAR_PARAM_BYTES) range.add("minimum", "0");
    return range.text();
  }
  range.add("minimum", bound(row, row.choices[0])).add("maximum", bound(row, row.choices[1]));
  if (row.choices[2] == nullptr) return range.text();
  Json besides('[');
  for (const char* const* word = row.choices + 2; *word != nullptr; ++word) besides.add(bound(row, *word));
  return any_of({range.text(), Json('{').add("enum", besides.text()).text()});
}

/// A whole number between quotes. A range that begins below zero is left to the loader.
std::string quoted_integers(const ashlar_param& row) {
  std::string digits = row.type == ASHLAR_PARAM_I64 ? "-?[0-9]+" : "[0-9]+";
  if (has_range(row) && bound(row, row.choices[0])[0] != '-') {
    digits = whole_numbers(std::stoull(bound(row, row.choices[0])), std::stoull(bound(row, row.choices[1])));
    for (const char* const* word = row.choices + 2; *word != nullptr; ++word) digits += "|" + bound(row, *word);
  }
  return text_like("^[ \\t]*(?:" + digits + ")[ \\t]*$");
}

std::string scalar_schema(const ashlar_param& row) {
  switch (row.type) {
    case ASHLAR_PARAM_BOOL:
      return switch_schema();
    case ASHLAR_PARAM_ENUM:
      return choice_schema(row);
    case ASHLAR_PARAM_I64:
    case ASHLAR_PARAM_U64:
      return any_of({plain_numbers(row, "integer"), quoted_integers(row)});
    case ASHLAR_PARAM_F64:
      return any_of({plain_numbers(row, "number"),
                     text_like("^[ \\t]*-?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][-+]?[0-9]+)?[ \\t]*$")});
    case ASHLAR_PARAM_BYTES:
      return any_of({plain_numbers(row, "number"), text_like(quantity_pattern(row))});
    case ASHLAR_PARAM_DURATION:
      // Without a unit only zero is a time, where the range holds it; its pattern ends in "|0".
      if (quantity_pattern(row).find("|0)") == std::string::npos) return text_like(quantity_pattern(row));
      return any_of({R"({"const":0})", text_like(quantity_pattern(row))});
    case ASHLAR_PARAM_STRING:
      break;
  }
  return R"({"type":["string","number","boolean"]})";
}

/// The built-in value in the type that YAML gives it.
std::string fallback_of(const ashlar_param& row) {
  const std::string text = row.fallback != nullptr ? row.fallback : "";
  const bool number = row.type == ASHLAR_PARAM_I64 || row.type == ASHLAR_PARAM_U64;
  const bool word = row.type == ASHLAR_PARAM_BOOL && (text == "true" || text == "false");
  return (number && !text.empty()) || word ? text : json_string(text);
}

std::string description(const param::Row& row) {
  const ashlar_param& spec = *row.spec;
  std::string out = spec.help;
  if (const std::string range = param::range_in_words(spec); !range.empty()) out += " From " + range + ".";
  const std::string text = spec.fallback != nullptr ? spec.fallback : "";
  out += "\nA " + std::string(param::type_name(spec.type)) + "; built in: " + (text.empty() ? "empty" : text) + ".";
  return out + "\nIn the environment: " + param::environment_name(row.key) + ".";
}

// ---- the forms around a value ---------------------------------------------------------------------------------------

constexpr const char* kScalar = R"({"type":["string","number","boolean"]})";

std::string patterns(const std::string& one) {
  return any_of({one, Json('{').add("type", R"("array")").add("minItems", "1").add("items", one).text()});
}

std::string when_schema() {
  Json subjects('{');
  for (const std::string_view subject : param::condition_subjects()) {
    std::string one = kScalar;
    if (subject == "container") one = switch_schema();
    if (subject.starts_with("ranks")) {
      one = any_of({R"({"type":"integer","minimum":0,"maximum":2147483647})",
                    text_like("^(?:[0-9]+\\.\\.[0-9]+|[<>]?=? *[0-9]+)$")});
    }
    subjects.add(subject, patterns(one));
  }
  return Json('{')
      .add("description", json_string("Conditions that must all hold: host and fabric (patterns as in a shell), ranks "
                                      "and ranks_per_node (8, 2..16, >=64), launcher, container."))
      .add("type", R"("object")")
      .add("properties", subjects.text())
      .add("additionalProperties", "false")
      .text();
}

constexpr const char* kLockText =
    "Whether users may not change the value. Only files of the installation and of /etc lock.";

std::string lock_schema() {
  return Json('{')
      .add("description", json_string(kLockText))
      .add("anyOf", R"([{"type":"boolean"},{"type":"string","pattern":"^(?:[Yy]|[Nn]|[Yy]es|YES|[Nn]o|NO|[Oo]n|ON|)"
                    R"([Oo]ff|OFF|[Tt]rue|TRUE|[Ff]alse|FALSE)$"}])")
      .text();
}

/// {value: ..., lock: ..., when: {...}} around a schema of the value.
std::string with_attributes(const std::string& value) {
  return Json('{')
      .add("type", R"("object")")
      .add("required", R"(["value"])")
      .add("properties",
           Json('{').add("value", value).add("lock", reference("lock")).add("when", reference("when")).text())
      .add("additionalProperties", "false")
      .text();
}

/// All that may stand behind the key of a row.
std::string value_schema(const param::Row& row) {
  const std::string scalar = reference("scalar." + std::string(row.key));
  const bool list = row.spec->type == ASHLAR_PARAM_STRING;
  // The words of a list are joined by commas, which makes a value of a text alone; other types take a list of one.
  const std::string words = list ? R"({"type":"array","minItems":1,"items":)" + scalar + "}"
                                 : R"({"type":"array","minItems":1,"maxItems":1,"items":)" + scalar + "}";
  const std::string attributes = with_attributes(any_of({scalar, words}));
  const std::string element = any_of({scalar, attributes});
  Json several('{');
  several.add("type", R"("array")").add("items", element);
  if (!list) several.add("minItems", "1").add("not", std::string(R"({"minItems":2,"items":)") + kScalar + "}");
  return Json('{')
      .add("description", json_string(description(row)))
      .add("default", fallback_of(*row.spec))
      .add("anyOf", Json('[').add(scalar).add(attributes).add(several.text()).text())
      .text();
}

/// A key that cannot be set, or has another name now.
std::string special(const param::Schema& schema, const param::Row& row) {
  const param::Row* const meant = schema.target(&row);
  if (meant != &row) {
    const std::string now = "Is now called " + std::string(meant->key) + ".";
    return Json('{')
        .add("description", json_string(now))
        .add("deprecated", "true")
        .add("deprecationMessage", json_string(now))
        .add("allOf", "[" + reference("value." + std::string(meant->key)) + "]")
        .text();
  }
  if (row.spec->scope == ASHLAR_SCOPE_CONSTANT)
    return Json('{').add("description", json_string("Constant; it cannot be set.")).add("not", "{}").text();
  return "";
}

// ---- dots and nested maps -------------------------------------------------------------------------------------------

/// The keys below one prefix, each by what is left of it: "shm.ring_bytes" and "shm" below "transport".
using Keys = std::map<std::string, std::vector<std::string>>;  // rest -> schemas of what may stand there

std::string properties_of(const Keys& keys) {
  Json properties('{');
  for (const auto& [rest, schemas] : keys) properties.add("\n  " + json_string(rest) + ":" + any_of(schemas));
  return properties.text();
}

std::string group_schema(const Keys& keys) {
  return Json('{')
      .add("type", R"("object")")
      .add("properties", properties_of(keys))
      .add("additionalProperties", "false")
      .text();
}

/// Of every prefix that a key has; "" is that of whole keys.
std::map<std::string, Keys> groups(const param::Schema& schema) {
  std::map<std::string, Keys> all;
  const auto below = [](const std::string& prefix, const std::string& key) {
    return prefix.empty() ? key : key.substr(prefix.size() + 1);
  };
  for (const param::Row& row : schema.rows()) {
    const std::string key = row.key;
    std::vector<std::string> prefixes{""};
    for (std::size_t dot = key.find('.'); dot != key.npos; dot = key.find('.', dot + 1))
      prefixes.push_back(key.substr(0, dot));
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      all[prefixes[i]][below(prefixes[i], key)].push_back(reference("value." + key));
      for (std::size_t inner = i + 1; inner < prefixes.size(); ++inner) {
        std::vector<std::string>& schemas = all[prefixes[i]][below(prefixes[i], prefixes[inner])];
        const std::string group = reference("group." + prefixes[inner]);
        bool there = false;
        for (const std::string& one : schemas) there = there || one == group;
        if (!there) schemas.push_back(group);
      }
    }
  }
  return all;
}

std::string rules_schema() {
  return Json('{')
      .add("description", json_string("Several settings under one condition."))
      .add("type", R"("array")")
      .add("items", Json('{')
                        .add("type", R"("object")")
                        .add("required", R"(["set"])")
                        .add("properties", Json('{')
                                               .add("when", reference("when"))
                                               .add("lock", reference("lock"))
                                               .add("set", reference("settings"))
                                               .text())
                        .add("additionalProperties", "false")
                        .text())
      .text();
}

std::string classes_schema() {
  return Json('{')
      .add("description", json_string("Host classes, in the site's files: of each name the patterns of its hosts, for "
                                      "which the file classes/NAME.yaml is read."))
      .add("type", R"("object")")
      .add("additionalProperties", patterns(kScalar))
      .text();
}

}  // namespace

std::string json_schema(const param::Schema& schema, const std::string& version) {
  Json definitions('{');
  for (const param::Row& row : schema.rows()) {
    const std::string own = special(schema, row);
    const std::string key = row.key;
    if (own.empty()) definitions.add("\n" + json_string("scalar." + key) + ":" + scalar_schema(*row.spec));
    definitions.add("\n" + json_string("value." + key) + ":" + (own.empty() ? value_schema(row) : own));
  }
  Keys whole;
  for (const auto& [prefix, keys] : groups(schema)) {
    if (prefix.empty()) whole = keys;
    definitions.add("\n" + json_string(prefix.empty() ? "settings" : "group." + prefix) + ":" + group_schema(keys));
  }
  definitions.add("\n\"when\":" + when_schema()).add("\n\"lock\":" + lock_schema());
  // Words with a meaning of their own at the top of a file alone.
  whole["rules"] = {rules_schema()};
  whole["classes"] = {classes_schema()};
  return Json('{')
             .add("$schema", R"("http://json-schema.org/draft-07/schema#")")
             .add("title", json_string("Parameters of Ashlar MPI " + version))
             .add("type", R"(["object","null"])")  // a file of comments is in order
             .add("properties", properties_of(whole))
             .add("additionalProperties", "false")
             .add("definitions", definitions.text())
             .text() +
         "\n";
}

}  // namespace ashlar::info
