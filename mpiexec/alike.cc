#include "mpiexec/alike.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::size_t kMostValues = 6;    // values or ranges of one number; the rest is counted
constexpr std::size_t kMostDigits = 18;   // of a number that can be part of a range
constexpr std::size_t kSeveralRanks = 5;  // from which they are counted
constexpr char kNumber = '\x01';          // the place of a number; texts for people have no such character

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool hex_digit(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

/// A text between its numbers: "argument dest is ", "4", ", but ...". One more of `between` than of `numbers`.
struct Parts {
  std::vector<std::string> between, numbers;
};

/// The length of the number that begins at `at`; 0: none does. Digits within a name (MPI_INT8_T, node17x) are no
/// number, those at its end (node17) are one.
std::size_t number_at(const std::string& text, std::size_t at) {
  if (text.compare(at, 2, "0x") == 0) {
    std::size_t end = at + 2;
    while (end < text.size() && hex_digit(text[end])) ++end;
    return end > at + 2 ? end - at : 0;
  }
  std::size_t end = at;
  const bool sign = text[at] == '-' && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '(');
  if (sign) ++end;
  const std::size_t first = end;
  while (end < text.size() && digit(text[end])) ++end;
  if (end == first) return 0;
  const auto in_name = [](char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; };
  return end < text.size() && in_name(text[end]) && at > 0 && in_name(text[at - 1]) ? 0 : end - at;
}

Parts apart(const std::string& text) {
  Parts out;
  out.between.emplace_back();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = number_at(text, at);
    if (length == 0) {
      // Digits that are no number stay together.
      const std::size_t begin = at++;
      while (digit(text[begin]) && at < text.size() && digit(text[at])) ++at;
      out.between.back().append(text, begin, at - begin);
      continue;
    }
    out.numbers.push_back(text.substr(at, length));
    out.between.emplace_back();
    at += length;
  }
  return out;
}

std::string skeleton(const Parts& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.between.size(); ++i) out += (i ? std::string(1, kNumber) : "") + parts.between[i];
  return out;
}

bool fits_ranges(const std::string& number) {
  return number.size() <= kMostDigits && !number.starts_with("0x") && (number == "0" || number[0] != '0');
}

std::string thousands(std::size_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3;) out.insert(at -= 3, 1, ',');
  return out;
}

/// "4", "0-3", "1, 4-6 and 9", "0x1000, 0x2000 and 3 more" from all values of one place.
std::string values(std::vector<std::string> all) {
  std::sort(all.begin(), all.end(), [](const std::string& a, const std::string& b) {
    const long long x = std::strtoll(a.c_str(), nullptr, 10), y = std::strtoll(b.c_str(), nullptr, 10);
    return x != y ? x < y : a < b;
  });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const bool ranges = std::all_of(all.begin(), all.end(), fits_ranges);
  std::vector<std::string> pieces;
  std::size_t said = 0;
  for (std::size_t i = 0; i < all.size() && pieces.size() < kMostValues; said = i) {
    const std::string& first = all[i];
    long long last = std::strtoll(first.c_str(), nullptr, 10);
    std::size_t end = i + 1;
    while (ranges && end < all.size() && std::strtoll(all[end].c_str(), nullptr, 10) == last + 1) ++last, ++end;
    // "-2--1" would be hard to read.
    const bool is_range = end > i + 1 && first[0] != '-';
    pieces.push_back(is_range ? first + "-" + all[end - 1] : first);
    i = is_range ? end : i + 1;
  }
  std::string out;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    out += (i == 0 ? "" : i + 1 == pieces.size() && said == all.size() ? " and " : ", ") + pieces[i];
  return said == all.size() ? out : out + " and " + thousands(all.size() - said) + " more";
}

std::string one_text(const std::vector<Parts>& of) {
  std::string out = of[0].between[0];
  for (std::size_t place = 0; place < of[0].numbers.size(); ++place) {
    std::vector<std::string> all;
    for (const Parts& parts : of) all.push_back(parts.numbers[place]);
    out += values(std::move(all)) + of[0].between[place + 1];
  }
  return out;
}

}  // namespace

std::string without_numbers(const std::string& text) { return skeleton(apart(text)); }

std::vector<SaidAlike> put_together(const std::vector<RankText>& texts) {
  std::vector<SaidAlike> out;
  std::vector<std::vector<Parts>> parts;
  std::map<std::string, std::size_t> known;
  for (const RankText& said : texts) {
    Parts apart_ = apart(said.text);
    const auto [at, is_new] = known.emplace(skeleton(apart_), out.size());
    if (is_new) {
      out.emplace_back();
      parts.emplace_back();
    }
    out[at->second].ranks.push_back(said.rank);
    parts[at->second].push_back(std::move(apart_));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::sort(out[i].ranks.begin(), out[i].ranks.end());
    out[i].ranks.erase(std::unique(out[i].ranks.begin(), out[i].ranks.end()), out[i].ranks.end());
    out[i].text = one_text(parts[i]);
  }
  return out;
}

std::string these_ranks(const std::vector<unsigned>& ranks) {
  if (ranks.size() >= kSeveralRanks) return thousands(ranks.size()) + " ranks (" + list_of(ranks) + ")";
  return (ranks.size() == 1 ? "Rank " : "Ranks ") + list_of(ranks);
}

}  // namespace ashlar::mpiexec
