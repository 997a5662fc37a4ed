#include "mpiexec/text.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/base/printable.h"
#include "framework/param/suggest.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::size_t kColumns = 100;

std::string& speaker() {
  static std::string words = "mpiexec: ";
  return words;
}

std::string wrap(std::string_view message) {
  std::string out = speaker();
  std::size_t column = out.size();
  std::size_t at = 0;
  const char* next_line = "\n  ";
  while (at < message.size()) {
    if (message[at] == '\n') {
      out += "\n  ";
      column = 2;
      ++at;
      // A line of advice: its following lines stand under its text.
      next_line = message.substr(at).starts_with("- ") ? "\n    " : "\n  ";
      continue;
    }
    std::size_t end = message.find_first_of(" \n", at);
    if (end == std::string_view::npos) end = message.size();
    if (column + (end - at) > kColumns && column > speaker().size()) {
      while (!out.empty() && out.back() == ' ') out.pop_back();
      out += next_line;
      column = std::strlen(next_line) - 1;
    }
    out.append(message.substr(at, end - at));
    column += end - at;
    at = end;
    while (at < message.size() && message[at] == ' ') {
      out += ' ';
      ++column;
      ++at;
    }
  }
  if (out.back() != '\n') out += '\n';
  return out;
}

}  // namespace

std::string text(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int bytes = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string out(static_cast<std::size_t>(bytes > 0 ? bytes : 0), 0);
  std::vsnprintf(out.data(), out.size() + 1, format, again);
  va_end(again);
  return out;
}

std::string shown(std::string_view text) { return printable(text); }

std::string brief(std::string_view text) {
  constexpr std::size_t kMost = 200, kHalf = kMost / 2;
  std::string all = printable(text);
  if (all.size() <= kMost) return all;
  const auto inside = [&](std::size_t at) { return (static_cast<unsigned char>(all[at]) & 0xc0) == 0x80; };
  std::size_t begin = kHalf, end = all.size() - kHalf;
  while (begin > 0 && inside(begin)) --begin;
  while (end < all.size() && inside(end)) ++end;
  return all.replace(begin, end - begin, "...");
}

std::string in_words(Status failure, std::string_view advice) {
  std::string out = failure.text();
  const Failure known(failure);
  for (std::string_view rest = known.tries; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out.append(advice).append(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

void say(std::string_view message) {
  const std::string out = wrap(printable(message, Newlines::keep));
  std::size_t at = 0;
  while (at < out.size()) {
    const ssize_t n = write(STDERR_FILENO, out.data() + at, out.size() - at);
    if (n <= 0) return;  // standard error has no reader; there is no better place
    at += static_cast<std::size_t>(n);
  }
}

int printed() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return 0;
  say(in_words(fail(kErrOther, "output.stdout", {{"lower", std::strerror(errno)}})));
  return 1;
}

void speak_for(const std::string& whom) { speaker() = "mpiexec: " + whom + ": "; }

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  param::Suggestion suggestion(word);
  for (const std::string& candidate : known) suggestion.consider(candidate);
  return std::string(suggestion.best());
}

bool below(std::string_view name, std::string_view prefix) {
  return prefix.empty() || name == prefix || (name.starts_with(prefix) && name[prefix.size()] == '.');
}

std::string list_of(const std::vector<unsigned>& numbers, unsigned limit) {
  std::vector<std::string> ranges;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    if (ranges.size() < limit) {
      ranges.push_back(j == i ? text("%u", numbers[i]) : text("%u-%u", numbers[i], numbers[j]));
      shown = j + 1;
    }
    i = j + 1;
  }
  std::string out;
  const bool cut = shown < numbers.size();
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (i) out += (i + 1 == ranges.size() && !cut) ? " and " : ", ";
    out += ranges[i];
  }
  if (cut) out += text(" and %zu more", numbers.size() - shown);
  return out;
}

std::string signal_words(int number) {
  const char* name = sigabbrev_np(number);
  const char* meaning = sigdescr_np(number);
  if (!name || !meaning) return text("signal %d", number);
  std::string lower = meaning;
  lower[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(lower[0])));
  return text("signal %d (SIG%s, %s)", number, name, lower.c_str());
}

}  // namespace ashlar::mpiexec
