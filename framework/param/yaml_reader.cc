// libashlar_yaml.so: a configuration file to settings. See yaml_entry.h for the form.
//
//   transport: "shm,self"                       a setting
//   transport.shm.eager_limit: 16KiB            dotted keys and nested maps mean the same
//   coll: {shm: {limit: {value: 4KiB, lock: true, when: {host: "gpu*"}}}}
//   p2p.eager_limit: [{value: 8KiB}, {value: 4KiB, when: {ranks: ">=64"}}]      the last that applies
//   rules:
//     - {when: {ranks_per_node: ">64"}, lock: true, set: {transport: {shm: {ring_bytes: 16KiB}}}}
//   classes: {gpu: ["gpu*", "dgx?"]}            files classes/gpu.yaml apply on these hosts (site files only)
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <exception>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "framework/param/condition.h"
#include "framework/param/yaml_entry.h"

namespace {

// Aliases make one node stand in many places, also in itself: what is counted is the walk, not the file.
struct TooMuch {
  int line;
  int limit;
  const char* what;
};

struct Attributes {
  bool lock = false;
  std::string when;
};

// Where the text goes on behind its first document, or 0. YAML::LoadAll knows it too, but never ends for some texts.
int line_behind_document(const std::string& text) {
  struct Start : YAML::EventHandler {
    int line = 0;
    void OnDocumentStart(const YAML::Mark& mark) override { line = mark.line + 1; }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
  } start;
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  parser.HandleNextDocument(start);
  if (!parser) return 0;
  parser.HandleNextDocument(start);
  return start.line;
}

class Reader {
 public:
  explicit Reader(const ashlar_yaml_sink& sink) : sink_(sink) {}

  void document(const YAML::Node& root) {
    if (root.IsNull()) return;
    if (!root.IsMap()) return problem(root, "a configuration file is a map of keys to values");
    Level level(this, root);
    for (const auto& entry : entries(root)) {
      const std::string& key = entry.key;
      if (key == "rules") {
        rules(entry.value);
      } else if (key == "classes") {
        classes(entry.value);
      } else {
        value(key, entry.at, entry.value, {});
      }
    }
  }

 private:
  static int line(const YAML::Node& node) { return node.Mark().line + 1; }
  void problem(const YAML::Node& node, const std::string& text) { sink_.problem(sink_.self, line(node), text.c_str()); }

  // One level of nesting: every list and map that is walked through has one.
  struct Level {
    Level(Reader* r, const YAML::Node& node) : reader(r) {
      if (++reader->depth_ > ASHLAR_YAML_DEEPEST)
        throw TooMuch{line(node), ASHLAR_YAML_DEEPEST, "levels; does an alias refer to itself?"};
    }
    ~Level() { --reader->depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Reader* reader;
  };
  void count(const YAML::Node& node) {
    if (++values_ > ASHLAR_YAML_MOST_VALUES)
      throw TooMuch{line(node), ASHLAR_YAML_MOST_VALUES, "values, those behind aliases counted"};
  }

  struct Entry {
    std::string key;
    YAML::Node at, value;  // where the key stands, and what it stands for
  };
  // What can be used of a map: keys that are words, with a notice for one that comes again.
  std::vector<Entry> entries(const YAML::Node& map) {
    std::vector<Entry> found;
    std::map<std::string, int> lines;
    for (const auto& entry : map) {
      count(entry.first);
      if (!entry.first.IsScalar()) {
        problem(entry.first, "a key is a word, not a list or a map");
        continue;
      }
      const std::string& key = entry.first.Scalar();
      if (key == "<<") {
        problem(entry.first, "'<<' merges no maps here; write the keys out, or put an alias (*name) in their place");
        continue;
      }
      if (const auto [before, fresh] = lines.emplace(key, line(entry.first)); !fresh) {
        const std::string text = "'" + key + "' is in this map already, in line " + std::to_string(before->second) +
                                 "; of two settings of one parameter the later one wins";
        sink_.notice(sink_.self, line(entry.first), text.c_str());
      }
      found.push_back({key, entry.first, entry.second});
    }
    return found;
  }

  // The line shown is the key's: a value may begin on a later one.
  void setting(const std::string& key, const YAML::Node& at, const std::string& text, const Attributes& attributes) {
    sink_.setting(sink_.self, key.c_str(), text.c_str(), line(at), attributes.lock, attributes.when.c_str());
  }

  void value(const std::string& key, const YAML::Node& at, const YAML::Node& node, const Attributes& attributes) {
    count(node);
    if (node.IsScalar()) return setting(key, at, node.Scalar(), attributes);
    if (node.IsNull()) return problem(at, "'" + key + "' has no value; write '' for an empty text");
    Level level(this, at);
    if (node.IsSequence()) return sequence(key, at, node, attributes);
    if (node["value"]) return with_attributes(key, at, node, attributes);
    for (const Entry& entry : entries(node)) value(key + "." + entry.key, entry.at, entry.value, attributes);
  }

  void sequence(const std::string& key, const YAML::Node& at, const YAML::Node& node, const Attributes& attributes) {
    std::string joined;
    for (const auto& element : node) {
      count(element);
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
    for (const Entry& entry : entries(node)) {
      const std::string& name = entry.key;
      if (name == "value") continue;
      if (!attribute(name, entry.value, &attributes))
        problem(entry.at, "'" + key + "' has the unknown attribute '" + name + "'; there are value, lock and when");
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
    for (const Entry& entry : entries(node)) {
      if (!attributes->when.empty()) attributes->when += ashlar::param::kAnd;
      attributes->when += plain(entry.at, entry.key);
      for (const std::string& pattern : patterns(entry)) attributes->when += ashlar::param::kOr + pattern;
    }
    return true;
  }

  // One pattern or a list of them.
  std::vector<std::string> patterns(const Entry& entry) {
    std::vector<std::string> found;
    if (entry.value.IsScalar()) {
      found.push_back(plain(entry.value, entry.value.Scalar()));
      return found;
    }
    if (!entry.value.IsSequence() || entry.value.size() == 0) {
      problem(entry.at, "'" + entry.key + "' takes a pattern or a list of patterns");
      return found;
    }
    for (const auto& pattern : entry.value) {
      count(pattern);
      if (pattern.IsScalar()) {
        found.push_back(plain(pattern, pattern.Scalar()));
      } else {
        problem(pattern, "'" + entry.key + "': a pattern is a word, not a list or a map");
      }
    }
    return found;
  }

  // The separators of condition.h may not come from outside.
  std::string plain(const YAML::Node& node, const std::string& text) {
    if (text.find_first_of({ashlar::param::kAnd, ashlar::param::kOr, '\0'}) == std::string::npos) return text;
    problem(node, "a condition has no control characters");
    return "?";
  }

  void rules(const YAML::Node& list) {
    if (!list.IsSequence()) return problem(list, "rules: is a list of {when: ..., lock: ..., set: {...}}");
    Level level(this, list);
    for (const auto& rule : list) {
      count(rule);
      if (!rule.IsMap() || !rule["set"]) {
        problem(rule, "a rule has the form {when: ..., lock: ..., set: {...}}");
        continue;
      }
      Level inside(this, rule);
      Attributes attributes;
      for (const Entry& entry : entries(rule)) {
        if (entry.key != "set" && !attribute(entry.key, entry.value, &attributes))
          problem(entry.at, "a rule has no '" + entry.key + "'; there are when, lock and set");
      }
      if (!rule["set"].IsMap()) {
        problem(rule, "set: is a map of keys to values");
        continue;
      }
      for (const Entry& entry : entries(rule["set"])) value(entry.key, entry.at, entry.value, attributes);
    }
  }

  void classes(const YAML::Node& map) {
    if (!map.IsMap()) return problem(map, "classes: is a map of names to host patterns");
    for (const Entry& entry : entries(map)) {
      for (const std::string& pattern : patterns(entry))
        sink_.host_class(sink_.self, entry.key.c_str(), pattern.c_str(), line(entry.at));
    }
  }

  int depth_ = 0, values_ = 0;
  const ashlar_yaml_sink& sink_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void ashlar_yaml_read_v2(const char* text, size_t length,
                                                                           const ashlar_yaml_sink* sink) {
  try {
    const std::string whole(text, length);
    Reader(*sink).document(YAML::Load(whole));
    if (const int line = line_behind_document(whole); line > 0)
      sink->problem(sink->self, line, "a second document (---) begins here, or the first ends too early; one is read");
  } catch (const TooMuch& beyond) {
    const std::string words =
        "the file has more than " + std::to_string(beyond.limit) + " " + beyond.what + "; the rest is not read";
    sink->problem(sink->self, beyond.line, words.c_str());
  } catch (const YAML::ParserException& error) {
    sink->problem(sink->self, error.mark.line + 1, ("this is not YAML: " + error.msg).c_str());
  } catch (const YAML::Exception& error) {
    sink->problem(sink->self, error.mark.is_null() ? 1 : error.mark.line + 1, error.msg.c_str());
  } catch (const std::exception& error) {
    sink->problem(sink->self, 1, error.what());
  }
}
