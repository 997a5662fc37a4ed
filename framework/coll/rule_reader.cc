#include <cstring>
#include <limits>
#include <string_view>

#include "framework/base/hash.h"
#include "framework/coll/rule.h"
#include "framework/param/parse.h"

namespace ashlar::coll {
namespace {

/// A size that a message can have.
bool parse_bytes(std::string_view text, MPI_Count* out) {
  std::uint64_t bytes = 0;
  if (!param::parse_bytes(text, &bytes).ok() || bytes > std::numeric_limits<MPI_Count>::max()) return false;
  *out = static_cast<MPI_Count>(bytes);
  return true;
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
    hash.add(std::string_view(rule.algorithm));
    mix(static_cast<std::uint64_t>(rule.arguments.segment));
    mix(static_cast<std::uint64_t>(rule.arguments.window));
    mix(static_cast<std::uint64_t>(rule.arguments.radix));
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
  if (first == std::string_view::npos || first == last)
    return problem(line, "'" + std::string(whole) + "' is not of the form collective.row.condition");
  Collective collective;
  const std::string name(whole.substr(0, first));
  if (!parse_collective(name.c_str(), &collective)) return problem(line, "there is no collective '" + name + "'");
  const std::string row(whole.substr(0, last));
  const std::string_view what = whole.substr(last + 1);
  if (rows_.empty() || rows_.back() != row) {
    if (!known_rows_.insert(row).second) return problem(line, "row '" + row + "' comes twice");
    rows_.push_back(row);
    Rule rule;
    rule.collective = collective;
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
  } else if (what == "segment") {
    read = parse_bytes(value, &rule.arguments.segment);
  } else if (what == "window") {
    MPI_Count window = 0;
    read = parse_bytes(value, &window) && window > 0 && window <= INT_MAX;
    rule.arguments.window = static_cast<int>(window);
  } else if (what == "radix") {
    MPI_Count radix = 0;
    read = parse_bytes(value, &radix) && radix > 1 && radix <= INT_MAX;
    rule.arguments.radix = static_cast<int>(radix);
  } else if (what == "commutative") {
    const bool yes = std::strcmp(value, "true") == 0 || std::strcmp(value, "yes") == 0;
    read = yes || std::strcmp(value, "false") == 0 || std::strcmp(value, "no") == 0;
    rule.commute = yes ? Rule::Commute::kYes : Rule::Commute::kNo;
  } else if (what != "note") {
    return problem(line, "'" + std::string(what) +
                             "' is unknown; a row has use, bytes, ranks, nodes, node_ranks, commutative, segment, "
                             "window, radix and note");
  }
  if (!read) problem(line, std::string("cannot read '") + value + "' as " + std::string(what));
}

const std::vector<Rule>& RuleReader::rules() {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (*rules_[i].algorithm != '\0') continue;
    problems_.push_back(file_ + ": row '" + rows_[i] + "' does not say what to use");
    rules_[i].algorithm = "(none)";
  }
  return rules_;
}

}  // namespace ashlar::coll
