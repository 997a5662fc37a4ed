#include "framework/plugin/records.h"

#include <cstdio>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/printable.h"
#include "framework/param/suggest.h"
#include "framework/plugin/statement.h"

namespace ashlar::plugin {

template <auto word>
void Records::read(const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
  values[0] = (static_cast<const Records*>(block)->counters_.*word).get();
}

void Records::set_limit(std::size_t of_topic) {
  const std::lock_guard guard(mutex_);
  counters_.limit.set(of_topic);
}

void Records::add(Decision decision) {
  const std::lock_guard guard(mutex_);
  const std::size_t limit = counters_.limit;
  std::size_t& kept = kept_[decision.topic];
  if (kept >= limit) counters_.dropped.add();
  if (kept > limit) return;
  if (kept++ == limit)
    decision = Decision{.topic = decision.topic,
                        .chosen = "later decisions are not kept",
                        .because = std::to_string(limit) + " are (plugin.records)"};
  else
    counters_.kept.add();
  decisions_.push_back(std::move(decision));
}

const ashlar_pvar_row Records::kRows[] = {
    computed_pvar("records", "decision records kept, of all topics", ASHLAR_PVAR_LEVEL, read<&Counters::kept>),
    computed_pvar("records_dropped", "decisions that were not kept, because their topic has plugin.records of them",
                  ASHLAR_PVAR_COUNTER, read<&Counters::dropped>),
    computed_pvar("records_limit", "the most decision records of one topic (plugin.records)", ASHLAR_PVAR_SIZE,
                  read<&Counters::limit>),
};
const std::span<const ashlar_pvar_row> Records::pvar_rows = Records::kRows;

std::vector<Decision> Records::of(std::string_view topic) const {
  const std::lock_guard guard(mutex_);
  if (topic.empty()) return decisions_;
  std::vector<Decision> found;
  for (const Decision& d : decisions_) {
    if (d.topic == topic) found.push_back(d);
  }
  return found;
}

std::size_t Records::size() const {
  const std::lock_guard guard(mutex_);
  return decisions_.size();
}

std::string to_text(const std::vector<Decision>& decisions) {
  std::string out;
  for (const Decision& d : decisions) {
    out += d.topic;
    if (!d.subject.empty()) out += ", " + d.subject;
    out += ": " + d.chosen + "\n";
    if (!d.because.empty()) out += "  because  " + d.because + "\n";
    // Losers are separated by newlines; each gets its own line.
    for (std::size_t at = 0; at < d.lost.size();) {
      std::size_t end = d.lost.find('\n', at);
      if (end == std::string::npos) end = d.lost.size();
      if (end > at) out += "  not      " + d.lost.substr(at, end - at) + "\n";
      at = end + 1;
    }
    if (!d.setting.empty()) out += "  change   " + d.setting + "\n";
  }
  return out;
}

std::string to_json(const Decision& d) {
  std::string out = "{\"topic\":" + json_string(d.topic);
  const auto member = [&](const char* name, const std::string& text) {
    if (!text.empty()) out += std::string(",\"") + name + "\":" + json_string(text);
  };
  member("subject", d.subject);
  member("chosen", d.chosen);
  member("because", d.because);
  member("lost", d.lost);
  member("setting", d.setting);
  return out + "}";
}

std::string json_string(std::string_view text) {
  constexpr const char* kNoCharacter = "\\ufffd";  // for bytes that are not UTF-8, which JSON cannot hold
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t bytes = utf8_bytes(text);
    const char c = text.front();
    if (const std::size_t at = std::string_view("\"\\\n\t\r").find(c); at != std::string_view::npos) {
      out += {'\\', "\"\\ntr"[at]};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else if (bytes == 0) {
      out += kNoCharacter;
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out + "\"";
}

namespace {

// Takes the first word off a list with commas.
std::string_view next_word(std::string_view* list) {
  const std::size_t comma = list->find(',');
  const std::string_view word = list->substr(0, comma);
  *list = comma == std::string_view::npos ? std::string_view{} : list->substr(comma + 1);
  return word;
}

// Topics beside the frameworks: rooms of the kernel that decide without a component.
constexpr const char* kRooms[] = {"memory", "p2p"};

}  // namespace

bool wants(std::string_view topics, std::string_view topic) {
  while (!topics.empty()) {
    const std::string_view word = next_word(&topics);
    if (word == "all" || word == topic) return true;
  }
  return false;
}

Status check_topics(std::string_view topics, const char* origin) {
  std::size_t count = 0;
  const Framework* const all = frameworks(&count);
  while (!topics.empty()) {
    const std::string_view word = next_word(&topics);
    param::Suggestion suggestion(word);
    std::string known = "all";
    bool found = word == "all" || word.empty();
    const auto consider = [&](const char* topic) {
      found = found || word == topic;
      suggestion.consider(topic);
      known += std::string(", ") + topic;
    };
    for (std::size_t i = 0; i < count; ++i) consider(all[i].name);
    for (const char* const topic : kRooms) consider(topic);
    if (found) continue;
    const std::string meant(suggestion.best());
    return fail(kErrArg, "param.no_topic",
                {{"origin", origin},
                 {"value", word},
                 {"suggestion", meant.empty() ? "" : " (did you mean '" + meant + "'?)"},
                 {"known", known}});
  }
  return {};
}

}  // namespace ashlar::plugin
