// libashlar_yaml.so: a configuration file to settings. See yaml_entry.h for the form.
//
//   transport: "shm,self"                       a setting
//   transport.shm.eager_limit: 16KiB            dotted keys and nested maps mean the same
//   coll: {shm: {limit: {value: 4KiB, lock: true, when: {host: "gpu*"}}}}
//   p2p.eager_limit: [{value: 8KiB}, {value: 4KiB, when: {ranks: ">=64"}}]      the last that applies
//   rules:
//     - {when: {ranks_per_node: ">64"}, lock: true, set: {transport: {shm: {ring_bytes: 4KiB}}}}
//   classes: {gpu: ["gpu*", "dgx?"]}            files classes/gpu.yaml apply on these hosts (site files only)
#include <yaml-cpp/yaml.h>

#include <exception>
#include <string>

#include "framework/param/condition.h"
#include "framework/param/yaml_entry.h"

namespace {

struct Attributes {
  bool lock = false;
  std::string when;
};

class Reader {
 public:
  explicit Reader(const ashlar_yaml_sink& sink) : sink_(sink) {}

  void document(const YAML::Node& root) {
    if (root.IsNull()) return;
    if (!root.IsMap()) return problem(root, "a configuration file is a map of keys to values");
    for (const auto& entry : root) {
      const std::string key = entry.first.Scalar();
      if (key == "rules") {
        rules(entry.second);
      } else if (key == "classes") {
        classes(entry.second);
      } else {
        value(key, entry.first, entry.second, {});
      }
    }
  }

 private:
  static int line(const YAML::Node& node) { return node.Mark().line + 1; }
  void problem(const YAML::Node& node, const std::string& text) { sink_.problem(sink_.self, line(node), text.c_str()); }

  // The line shown is the key's: a value may begin on a later one.
  void setting(const std::string& key, const YAML::Node& at, const std::string& text, const Attributes& attributes) {
    sink_.setting(sink_.self, key.c_str(), text.c_str(), line(at), attributes.lock, attributes.when.c_str());
  }

  void value(const std::string& key, const YAML::Node& at, const YAML::Node& node, const Attributes& attributes) {
    if (node.IsScalar()) return setting(key, at, node.Scalar(), attributes);
    if (node.IsNull()) return problem(at, "'" + key + "' has no value; write '' for an empty text");
    if (node.IsSequence()) return sequence(key, at, node, attributes);
    if (node["value"]) return with_attributes(key, at, node, attributes);
    for (const auto& entry : node) value(key + "." + entry.first.Scalar(), entry.first, entry.second, attributes);
  }

  void sequence(const std::string& key, const YAML::Node& at, const YAML::Node& node, const Attributes& attributes) {
    std::string joined;
    for (const auto& element : node) {
      if (element.IsMap() && element["value"]) {
        with_attributes(key, element, element, attributes);
      } else if (element.IsScalar()) {
        if (!joined.empty()) joined += ",";
        joined += element.Scalar();
      } else {
        return problem(element, "'" + key + "' is a list of something that is neither a word nor {value: ...}");
      }
    }
    if (!joined.empty() || node.size() == 0) setting(key, at, joined, attributes);
  }

  void with_attributes(const std::string& key, const YAML::Node& at, const YAML::Node& node, Attributes attributes) {
    for (const auto& entry : node) {
      const std::string name = entry.first.Scalar();
      if (name == "value") continue;
      if (!attribute(name, entry.second, &attributes))
        problem(entry.first, "'" + key + "' has the unknown attribute '" + name + "'; there are value, lock and when");
    }
    const YAML::Node text = node["value"];
    if (text.IsScalar() || (text.IsSequence() && text.size() > 0 && text[0].IsScalar()))
      return value(key, at, text, attributes);
    problem(at, "'" + key + "': value is neither a word nor a list of words");
  }

  bool attribute(const std::string& name, const YAML::Node& node, Attributes* attributes) {
    if (name == "lock") {
      if (!YAML::convert<bool>::decode(node, attributes->lock)) problem(node, "lock: is true or false");
      return true;
    }
    if (name != "when") return false;
    if (!node.IsMap()) {
      problem(node, "when: is a map of conditions, such as {host: \"gpu*\", ranks: \">=64\"}");
      return true;
    }
    for (const auto& entry : node) {
      if (!attributes->when.empty()) attributes->when += ashlar::param::kAnd;
      attributes->when += entry.first.Scalar();
      if (entry.second.IsScalar()) {
        attributes->when += ashlar::param::kOr + entry.second.Scalar();
      } else if (entry.second.IsSequence()) {
        for (const auto& pattern : entry.second) attributes->when += ashlar::param::kOr + pattern.Scalar();
      } else {
        problem(entry.first, "a condition takes a pattern or a list of patterns");
      }
    }
    return true;
  }

  void rules(const YAML::Node& list) {
    if (!list.IsSequence()) return problem(list, "rules: is a list of {when: ..., lock: ..., set: {...}}");
    for (const auto& rule : list) {
      Attributes attributes;
      if (!rule.IsMap() || !rule["set"]) {
        problem(rule, "a rule has the form {when: ..., lock: ..., set: {...}}");
        continue;
      }
      for (const auto& entry : rule) {
        const std::string name = entry.first.Scalar();
        if (name != "set" && !attribute(name, entry.second, &attributes))
          problem(entry.first, "a rule has no '" + name + "'; there are when, lock and set");
      }
      if (!rule["set"].IsMap()) problem(rule, "set: is a map of keys to values");
      for (const auto& entry : rule["set"]) value(entry.first.Scalar(), entry.first, entry.second, attributes);
    }
  }

  void classes(const YAML::Node& map) {
    if (!map.IsMap()) return problem(map, "classes: is a map of names to host patterns");
    for (const auto& entry : map) {
      const std::string name = entry.first.Scalar();
      if (entry.second.IsScalar()) {
        sink_.host_class(sink_.self, name.c_str(), entry.second.Scalar().c_str(), line(entry.first));
      } else {
        for (const auto& pattern : entry.second)
          sink_.host_class(sink_.self, name.c_str(), pattern.Scalar().c_str(), line(pattern));
      }
    }
  }

  const ashlar_yaml_sink& sink_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void ashlar_yaml_read_v1(const char* text, size_t length,
                                                                           const ashlar_yaml_sink* sink) {
  try {
    Reader(*sink).document(YAML::Load(std::string(text, length)));
  } catch (const YAML::ParserException& error) {
    sink->problem(sink->self, error.mark.line + 1, ("this is not YAML: " + error.msg).c_str());
  } catch (const YAML::Exception& error) {
    sink->problem(sink->self, error.mark.is_null() ? 1 : error.mark.line + 1, error.msg.c_str());
  } catch (const std::exception& error) {
    sink->problem(sink->self, 1, error.what());
  }
}
