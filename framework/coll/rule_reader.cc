#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include "framework/base/hash.h"
#include "framework/coll/rule.h"
#include "framework/param/parse.h"
#include "framework/param/suggest.h"
#include "framework/param/trust.h"
#include "framework/plugin/loader.h"

namespace ashlar::coll {
namespace {

/// A size that a message can have.
bool parse_bytes(std::string_view text, MPI_Count* out) {
  std::uint64_t bytes = 0;
  if (!param::parse_bytes(text, &bytes).ok() || bytes > std::numeric_limits<MPI_Count>::max()) return false;
  *out = static_cast<MPI_Count>(bytes);
  return true;
}

bool parse_whole(std::string_view text, int least, int* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && *out >= least;
}

/// "8", "..8", "8..", "2..8".
template <class T>
bool parse_range(std::string_view text, Range<T>* out) {
  const std::size_t dots = text.find("..");
  const std::string_view low = text.substr(0, dots);
  const std::string_view high = dots == std::string_view::npos ? low : text.substr(dots + 2);
  MPI_Count value = 0;
  if (!low.empty()) {
    if (!parse_bytes(low, &value) || value > static_cast<MPI_Count>(out->to)) return false;
    out->from = static_cast<T>(value);
  }
  if (!high.empty()) {
    if (!parse_bytes(high, &value) || value > static_cast<MPI_Count>(out->to)) return false;
    out->to = static_cast<T>(value);
  }
  return (dots != std::string_view::npos || !low.empty()) && out->from <= out->to;
}

}  // namespace

std::uint64_t fingerprint(std::span<const Rule> rules) {
  Hash hash;
  const auto mix = [&hash](std::uint64_t value) { hash.add(value); };
  const auto mix_range = [&mix](auto range) {
    mix(static_cast<std::uint64_t>(range.from));
    mix(static_cast<std::uint64_t>(range.to));
  };
  for (const Rule& rule : rules) {
    mix(static_cast<std::uint64_t>(rule.collective));
    mix(static_cast<std::uint64_t>(rule.commute));
    mix_range(rule.ranks);
    mix_range(rule.nodes);
    mix_range(rule.node_ranks);
    mix_range(rule.bytes);
    mix_range(rule.bandwidth);
    hash.add(std::string_view(rule.algorithm));
    mix(static_cast<std::uint64_t>(rule.arguments.segment));
    mix(static_cast<std::uint64_t>(rule.arguments.window));
    mix(static_cast<std::uint64_t>(rule.arguments.radix));
    mix(static_cast<std::uint64_t>(rule.arguments.leaders));
  }
  return hash.value();
}

RuleReader::~RuleReader() {
  for (const std::string* text : texts_) delete text;
}

const char* RuleReader::keep(std::string text) {
  texts_.push_back(new std::string(std::move(text)));
  return texts_.back()->c_str();
}

void RuleReader::problem(int line, const std::string& text) {
  problems_.push_back(file_ + ":" + std::to_string(line) + ": " + text);
}

namespace {

/// "; did you mean 'allreduce'?", or nothing.
std::string guess(const param::Suggestion& suggestion) {
  return suggestion.best().empty() ? "" : "; did you mean '" + std::string(suggestion.best()) + "'?";
}

std::string no_collective(const std::string& name) {
  param::Suggestion suggestion(name);
  for (int i = 0; i < kCollectives; ++i) suggestion.consider(name_of(static_cast<Collective>(i)));
  return "there is no collective '" + name + "'" + guess(suggestion);
}

std::string no_word(std::string_view word) {
  param::Suggestion suggestion(word);
  for (const char* known : {"use", "bytes", "ranks", "nodes", "node_ranks", "bandwidth", "commutative", "segment",
                            "window", "radix", "leaders", "note"})
    suggestion.consider(known);
  return "'" + std::string(word) +
         "' is unknown; a row has use, bytes, ranks, nodes, node_ranks, bandwidth, commutative, segment, window, "
         "radix, "
         "leaders and note" +
         guess(suggestion);
}

/// What each condition or argument takes.
const char* form_of(std::string_view what) {
  if (what == "bytes" || what == "bandwidth") return "a range of sizes, such as ..4KiB, 1KiB..64KiB or 1MiB..";
  if (what.ends_with("ranks") || what == "nodes") return "a range of numbers, such as 2..8 or 16";
  if (what == "segment") return "a size, such as 64KiB";
  if (what == "commutative") return "true or false";
  return what == "radix" ? "a whole number above 1" : "a whole number above 0";
}

}  // namespace

void RuleReader::setting(const char* key, const char* value, int line) {
  const std::string_view whole(key);
  if (whole == "origin") {
    origin_ = value;
    return;
  }
  if (whole == "schema") {
    if (std::strcmp(value, "1") != 0) problem(line, std::string("this library reads schema 1, not ") + value);
    return;
  }
  const std::size_t first = whole.find('.');
  const std::size_t last = whole.rfind('.');
  if (first == std::string_view::npos || first == last || whole.find('.', first + 1) != last)
    return problem(line, "'" + std::string(whole) + "' is not of the form collective.row.condition");
  Collective collective;
  const std::string name(whole.substr(0, first));
  if (!parse_collective(name.c_str(), &collective)) return problem(line, no_collective(name));
  const std::string row(whole.substr(0, last));
  const std::string_view what = whole.substr(last + 1);
  if (rows_.empty() || rows_.back() != row) {
    if (!known_rows_.insert(row).second) return problem(line, "row '" + row + "' comes twice");
    rows_.push_back(row);
    lines_.push_back(line);
    Rule rule;
    rule.collective = collective;
    rule.source = Rule::Source::kTuningFile;
    rule.origin = keep(file_ + ":" + std::to_string(line) + " (" + row + ")");
    rules_.push_back(rule);
  }
  Rule& rule = rules_.back();
  bool read = true;
  if (what == "use") {
    rule.algorithm = keep(value);
  } else if (what == "bytes") {
    read = parse_range(value, &rule.bytes);
  } else if (what == "ranks") {
    read = parse_range(value, &rule.ranks);
  } else if (what == "nodes") {
    read = parse_range(value, &rule.nodes);
  } else if (what == "node_ranks") {
    read = parse_range(value, &rule.node_ranks);
  } else if (what == "bandwidth") {
    rule.conditional = true;
    rule.bandwidth = {0, INT64_MAX};
    read = parse_range(value, &rule.bandwidth);
  } else if (what == "segment") {
    read = parse_bytes(value, &rule.arguments.segment);
  } else if (what == "window") {
    read = parse_whole(value, 1, &rule.arguments.window);
  } else if (what == "radix") {
    read = parse_whole(value, 2, &rule.arguments.radix);
  } else if (what == "leaders") {
    read = parse_whole(value, 1, &rule.arguments.leaders);
  } else if (what == "commutative") {
    rule.conditional = true;
    const bool yes = std::strcmp(value, "true") == 0 || std::strcmp(value, "yes") == 0;
    read = yes || std::strcmp(value, "false") == 0 || std::strcmp(value, "no") == 0;
    rule.commute = yes ? Rule::Commute::kYes : Rule::Commute::kNo;
  } else if (what != "note") {
    return problem(line, no_word(what));
  }
  if (!read) problem(line, std::string("cannot read '") + value + "' as " + std::string(what) + ", " + form_of(what));
}

const std::vector<Rule>& RuleReader::rules() {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (*rules_[i].algorithm != '\0') continue;
    problem(lines_[i], "row '" + rows_[i] + "' does not say what to use");
    rules_[i].algorithm = "(none)";
  }
  return rules_;
}

Status read_rules(const std::string& path, std::unique_ptr<RuleReader>* out) {
  std::string text;
  ASHLAR_TRY(param::read_trusted(path, param::Trust::named(), &text));
  ashlar_yaml_read* read = nullptr;
  ASHLAR_TRY(plugin::open_yaml(&read));
  *out = std::make_unique<RuleReader>(path);
  const ashlar_yaml_sink sink{
      .self = out->get(),
      .setting = [](void* self, const char* key, const char* value, int line, int,
                    const char*) { static_cast<RuleReader*>(self)->setting(key, value, line); },
      .host_class = [](void*, const char*, const char*, int) {},
      .problem = [](void* self, int line,
                    const char* problem) { static_cast<RuleReader*>(self)->problem(line, problem); },
      .notice = [](void* self, int line,
                   const char* notice) { static_cast<RuleReader*>(self)->problem(line, notice); }};
  read(text.data(), text.size(), &sink);
  return {};
}

}  // namespace ashlar::coll
