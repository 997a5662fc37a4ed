#include "mpiexec/info/schema.h"

#include <map>
#include <string_view>
#include <vector>

#include "framework/param/condition.h"
#include "mpiexec/info/json_builder.h"
#include "mpiexec/info/schema_values.h"

namespace ashlar::info {
namespace {

using plugin::json_string;

/// Objects get one schema and all else the other: with a choice of schemas an editor could not say which one was meant.
std::string if_object(const std::string& then, const std::string& otherwise) {
  return Json('{').add("if", R"({"type":"object"})").add("then", then).add("else", otherwise).text();
}

std::string if_list(const std::string& then, const std::string& otherwise) {
  return Json('{').add("if", R"({"type":"array"})").add("then", then).add("else", otherwise).text();
}

// ---- the forms around a value ---------------------------------------------------------------------------------------

constexpr const char* kScalar = R"({"type":["string","number","boolean"]})";

std::string patterns(const std::string& one) {
  return if_list(Json('{').add("minItems", "1").add("items", one).text(), one);
}

std::string when_schema() {
  Json subjects('{');
  for (const std::string_view subject : param::condition_subjects()) {
    std::string one = kScalar;
    if (subject == "container") one = switch_schema();
    if (subject.starts_with("ranks")) {
      one = Json('{')
                .add("type", R"(["integer","string"])")
                .add("minimum", "0")
                .add("maximum", "2147483647")
                .add("pattern", json_string("^(?:[0-9]+\\.\\.[0-9]+|[<>]?=? *[0-9]+)$"))
                .add("patternErrorMessage", json_string("This must be a number of ranks, such as 8, 2..16 or >=64."))
                .text();
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
  Json words('{');
  words.add("minItems", "1").add("items", scalar);
  if (!list) words.add("maxItems", "1");
  const std::string attributes = with_attributes(if_list(words.text(), scalar));
  Json several('{');
  several.add("items", if_object(attributes, scalar));
  if (!list) several.add("minItems", "1").add("not", Json('{').add("minItems", "2").add("items", kScalar).text());
  return Json('{')
      .add("description", json_string(description(row)))
      .add("default", fallback_of(*row.spec))
      .add("examples", examples_of(*row.spec))
      .add("if", R"({"type":"object"})")
      .add("then", attributes)
      .add("else", if_list(several.text(), scalar))
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

/// What may stand behind one name: a value, a map of the names below, or either ("transport").
struct Place {
  std::string value, group;  // schemas
  std::string schema() const {
    if (value.empty() || group.empty()) return value.empty() ? group : value;
    return Json('{')
        .add("if", R"({"type":"object","not":{"required":["value"]}})")
        .add("then", group)
        .add("else", value)
        .text();
  }
};

/// The keys below one prefix, each by what is left of it: "shm.ring_bytes" and "shm" below "transport".
using Keys = std::map<std::string, Place>;

std::string properties_of(const Keys& keys) {
  Json properties('{');
  for (const auto& [rest, place] : keys) properties.add("\n  " + json_string(rest) + ":" + place.schema());
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
      all[prefixes[i]][below(prefixes[i], key)].value = reference("value." + key);
      for (std::size_t inner = i + 1; inner < prefixes.size(); ++inner)
        all[prefixes[i]][below(prefixes[i], prefixes[inner])].group = reference("group." + prefixes[inner]);
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
  whole["rules"].value = rules_schema();
  whole["classes"].value = classes_schema();
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
