#include "mpiexec/info/messages.h"

#include <vector>

#include "framework/base/catalogue.h"
#include "framework/plugin/records.h"

namespace ashlar::info {
namespace {

/// How many characters of `printed` are the own ones of the sentence `says`, which has something in place of each
/// {name} there; 0 when it is not that sentence. What stands in front of the first name may be missing: people copy a
/// part of a line.
std::size_t own_characters(std::string_view printed, const char* says) {
  constexpr std::size_t kTelling = 10;  // fewer characters of a sentence's own fit too much
  std::size_t at = 0, own = 0;
  bool first = true, follows = true;
  const auto piece = [&](std::string_view text) {
    const std::size_t found = printed.find(text, at);
    const bool there = found != printed.npos;
    follows = follows && (there || first);
    first = false;
    if (!there) return;
    at = found + text.size();
    own += text.size();
  };
  (void)catalogue::fill(
      says, [](std::string_view) { return std::string_view("", 0); },
      [&](std::string_view text) {
        if (!text.empty()) piece(text);
      });
  return follows && own >= kTelling ? own : 0;
}

std::vector<const catalogue::Row*> asked_for(std::string_view subject) {
  std::vector<const catalogue::Row*> rows, sentences;
  std::size_t most = 1;
  for (const catalogue::Row* row = catalogue::begin(); row != catalogue::end(); ++row) {
    if (std::string_view(row->id).find(subject) != std::string_view::npos ||
        std::string_view(row->says).find(subject) != std::string_view::npos)
      rows.push_back(row);
    // Of the sentences that it may be, the one that has most in common with it.
    const std::size_t own = own_characters(subject, row->says);
    if (own > most) sentences.clear();
    if (own >= most) sentences.push_back(row), most = own;
  }
  if (rows.empty()) return sentences;
  return rows;
}

}  // namespace

std::string messages_text(std::string_view subject) {
  std::string out;
  for (const catalogue::Row* row : asked_for(subject)) {
    out += (out.empty() ? "" : "\n") + std::string(row->id) + "\n  " + row->says + "\n";
    if (*row->because) out += std::string("  ") + row->because + "\n";
    for (const char* const* line = row->tries; *line; ++line) out += std::string("  - ") + *line + "\n";
  }
  if (!out.empty() && !subject.empty()) out += "\nThe manual page ashlar-messages(7) has every message.\n";
  return out;
}

std::string messages_json(std::string_view subject) {
  std::string out;
  for (const catalogue::Row* row : asked_for(subject)) {
    out += (out.empty() ? "[{\"id\":" : ",\n {\"id\":") + plugin::json_string(row->id) +
           ",\"says\":" + plugin::json_string(row->says) + ",\"because\":" + plugin::json_string(row->because) +
           ",\"try\":[";
    for (const char* const* line = row->tries; *line; ++line)
      out += (line == row->tries ? "" : ",") + plugin::json_string(*line);
    out += "]}";
  }
  return out.empty() ? "" : out + "]\n";
}

}  // namespace ashlar::info
