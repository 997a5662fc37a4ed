#include "components/launch/pmi/message.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace ashlar::launch {
namespace {

constexpr std::size_t kLengthCharacters = 6;

bool parse_number(std::string_view text, std::int64_t* value) {
  std::int32_t parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return false;
  *value = parsed;
  return true;
}

bool begins_with_command(const PmiMessage& message) {
  return !message.fields().empty() && message.fields().front().first == "cmd" && !message.command().empty();
}

// "cmd=maxes kvsname_max=256": a value has no blank. Words without "=" say nothing that is asked for, and are left out.
bool parse_line(std::string_view line, PmiMessage* message) {
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(" \r"), line.size());
    const std::string_view word = line.substr(0, end);
    if (const std::size_t at = word.find('='); at != std::string_view::npos && at > 0)
      message->add(word.substr(0, at), word.substr(at + 1));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return begins_with_command(*message);
}

// "cmd=kvs-get-response;rc=0;": a doubled semicolon is one of the value.
bool parse_frame(std::string_view body, PmiMessage* message) {
  while (!body.empty()) {
    const std::size_t at = body.find('=');
    if (at == std::string_view::npos || at == 0) return false;
    const std::string_view name = body.substr(0, at);
    if (name.find(';') != std::string_view::npos) return false;
    body.remove_prefix(at + 1);
    std::string value;
    for (;;) {
      const std::size_t end = body.find(';');
      if (end == std::string_view::npos) return false;
      value += body.substr(0, end);
      body.remove_prefix(end + 1);
      if (body.empty() || body.front() != ';') break;
      value += ';';
      body.remove_prefix(1);
    }
    message->add(name, value);
  }
  return begins_with_command(*message);
}

Cut cut_line(std::string* bytes, PmiMessage* message, const char** why) {
  const std::size_t end = bytes->find('\n');
  if (end == std::string::npos) {
    if (bytes->size() <= kLongestMessage) return Cut::kPart;
    *why = "it has no end";
    return Cut::kWrong;
  }
  const bool right = parse_line(std::string_view(*bytes).substr(0, end), message);
  if (!right) {
    *why = "it does not begin with cmd=";
    return Cut::kWrong;
  }
  bytes->erase(0, end + 1);
  return Cut::kWhole;
}

// Servers write the length with blanks before or behind it.
Cut cut_frame(std::string* bytes, PmiMessage* message, const char** why) {
  if (bytes->size() < kLengthCharacters) return Cut::kPart;
  const std::string_view head = std::string_view(*bytes).substr(0, kLengthCharacters);
  const std::size_t first = head.find_first_not_of(' ');
  std::int64_t length = 0;
  if (first == std::string_view::npos ||
      !parse_number(head.substr(first, head.find_last_not_of(' ') + 1 - first), &length) || length <= 0 ||
      static_cast<std::size_t>(length) > kLongestMessage) {
    *why = "it does not begin with a length of six characters";
    return Cut::kWrong;
  }
  const std::size_t whole = kLengthCharacters + static_cast<std::size_t>(length);
  if (bytes->size() < whole) return Cut::kPart;
  if (!parse_frame(std::string_view(*bytes).substr(kLengthCharacters, static_cast<std::size_t>(length)), message)) {
    *why = "it has no pairs name=value;";
    return Cut::kWrong;
  }
  bytes->erase(0, whole);
  return Cut::kWhole;
}

}  // namespace

const std::string* PmiMessage::find(std::string_view name) const {
  for (const auto& [key, value] : fields_)
    if (key == name) return &value;
  return nullptr;
}

bool PmiMessage::number(std::string_view name, std::int64_t* value) const {
  const std::string* const text = find(name);
  return text && parse_number(*text, value);
}

std::string pmi_text(Framing framing, const PmiMessage& message) {
  std::string text;
  for (const auto& [name, value] : message.fields()) {
    if (framing == Framing::kLine) {
      text += (text.empty() ? "" : " ") + name + "=" + value;
      continue;
    }
    text += name + "=";
    for (const char c : value) text += c == ';' ? ";;" : std::string(1, c);
    text += ";";
  }
  if (framing == Framing::kLine) return text + "\n";
  char length[16];
  std::snprintf(length, sizeof length, "%6zu", text.size());
  return length + text;
}

Cut cut_message(Framing framing, std::string* bytes, PmiMessage* message, const char** why) {
  *message = PmiMessage();
  return framing == Framing::kLine ? cut_line(bytes, message, why) : cut_frame(bytes, message, why);
}

}  // namespace ashlar::launch
