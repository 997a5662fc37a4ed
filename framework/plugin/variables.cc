#include "framework/plugin/variables.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>

#include "framework/plugin/in_force.h"
#include "framework/plugin/pvar_lock.h"
#include "framework/plugin/pvars.h"

namespace ashlar::plugin {
namespace {

/// The value as people read it.
std::string in_words(const ashlar_pvar_row& row, std::uint64_t value) {
  if (row.kind == ASHLAR_PVAR_STATE && row.choices != nullptr) {
    for (std::uint64_t i = 0; row.choices[i] != nullptr; ++i)
      if (i == value) return row.choices[i];
  }
  if (row.kind != ASHLAR_PVAR_PERCENTAGE) return std::to_string(value);
  char text[32];
  std::snprintf(text, sizeof text, "%g", std::bit_cast<double>(value));
  return text;
}

/// "coll.allreduce.ring.to_64B": there are hundreds, of which a program uses a few.
bool of_algorithm(std::string_view prefix, std::string_view name) {
  return prefix == "coll" && name.find('.') != std::string_view::npos;
}

bool as_number(std::string_view text, std::uint64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string_view word(std::string_view* rest) {
  const std::size_t end = std::min(rest->find(' '), rest->size());
  const std::string_view found = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return found;
}

}  // namespace

void VariablesWriter::line(char letter, std::string_view name, std::string_view text) {
  const std::size_t wanted = 2 + name.size() + 1 + text.size() + 1;
  if (wanted > room_ - used_) {
    ++dropped_;
    return;
  }
  char* at = out_ + used_;
  *at++ = letter;
  *at++ = ' ';
  at = std::copy(name.begin(), name.end(), at);
  *at++ = ' ';
  at = std::replace_copy(text.begin(), text.end(), at, '\n', ' ');
  *at = '\n';
  used_ += wanted;
}

void VariablesWriter::pvars(bool locked) {
  (void)pvar_sets().each_from(0, [&](const PvarSet& set) {
    for (std::uint32_t i = 0; i < set.rows().size(); ++i) {
      const ashlar_pvar_row& row = set.rows()[i];
      if (row.bind != ASHLAR_PVAR_OF_PROCESS) continue;
      const std::string name = set.prefix() + "." + row.name;
      if (locked && takes_lane_lock(row)) {
        line('l', name, "");
        continue;
      }
      std::uint64_t value = 0;
      set.read(i, nullptr, &value, 1);
      if (value != 0 || !of_algorithm(set.prefix(), row.name)) line('v', name, in_words(row, value));
    }
  });
}

void VariablesWriter::program_settings() {
  in_force().each_of_program([this](const std::string& key, const std::string& text) { line('p', key, text); });
}

std::size_t VariablesWriter::finish() {
  if (dropped_ != 0) {
    const int length = std::snprintf(out_ + used_, kReserve, "+ %u\n", dropped_);
    used_ += static_cast<std::size_t>(length);
  }
  return used_;
}

Variables Variables::parse(std::string_view text) {
  Variables out;
  std::map<std::string, std::size_t, std::less<>> seen;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view letter = word(&rest);
    const std::string name(word(&rest));
    std::uint64_t number = 0;
    if (letter == "+") {
      if (as_number(name, &number)) out.dropped = static_cast<unsigned>(number);
    } else if (letter == "p" && !name.empty()) {
      out.program_settings.emplace_back(name, rest);
    } else if ((letter == "v" || letter == "l") && !name.empty()) {
      const auto [at, fresh] = seen.try_emplace(name, out.pvars.size());
      if (fresh) {
        out.pvars.push_back({.name = name, .value = std::string(rest)});
        continue;
      }
      // Of a second life of its owner: both count.
      std::uint64_t before = 0;
      std::string& value = out.pvars[at->second].value;
      if (as_number(value, &before) && as_number(rest, &number)) value = std::to_string(before + number);
    }
  }
  return out;
}

}  // namespace ashlar::plugin
