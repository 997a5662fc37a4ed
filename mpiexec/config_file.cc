#include "mpiexec/config_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::size_t kMostBytes = 64u << 20;  // a device or a data file by mistake must not fill the memory

bool read_whole(const std::string& path, std::string* out) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (!file) return false;
  char piece[4096];
  for (std::size_t n; (n = std::fread(piece, 1, sizeof piece, file)) > 0 && out->size() < kMostBytes;)
    out->append(piece, n);
  if (out->size() >= kMostBytes) errno = EFBIG;
  const bool good = std::ferror(file) == 0 && out->size() < kMostBytes;
  std::fclose(file);
  return good;
}

/// The words of one line; false: a quote does not end.
bool split(const std::string& line, std::vector<std::string>* words) {
  std::string word;
  bool inside = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      inside = true;
    } else if (c == '\\' && i + 1 < line.size()) {
      word += line[++i];
      inside = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (inside) words->push_back(std::move(word));
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) words->push_back(std::move(word));
  return quote == 0;
}

}  // namespace

Status read_word_lines(const char* option, const std::string& path, std::vector<std::vector<std::string>>* lines) {
  std::string all;
  if (!read_whole(path, &all))
    return fail(kErrArg, "option.file_unreadable",
                {{"option", option}, {"lower", std::strerror(errno)}, {"file", brief(path)}});
  if (const std::size_t zero = all.find('\0'); zero != std::string::npos) {
    const auto before = std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
    return fail(kErrArg, "option.file_binary", {{"option", option}, {"line", before + 1}, {"file", brief(path)}});
  }
  std::string line;
  unsigned number = 0;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    std::string piece = all.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.empty() && piece.find_first_not_of(" \t") != std::string::npos &&
        piece[piece.find_first_not_of(" \t")] == '#')
      continue;
    const bool goes_on = piece.ends_with('\\');
    if (goes_on) piece.pop_back();
    line += piece;
    if (goes_on && at < all.size()) continue;
    std::vector<std::string> of_line;
    if (!split(line, &of_line))
      return fail(kErrArg, "option.file_quote", {{"option", option}, {"line", number}, {"file", brief(path)}});
    line.clear();
    if (of_line.empty()) continue;
    lines->push_back(std::move(of_line));
  }
  return {};
}

Status read_option_file(const std::string& path, std::vector<std::string>* words) {
  std::vector<std::vector<std::string>> lines;
  ASHLAR_TRY(read_word_lines("-file", path, &lines));
  for (const std::vector<std::string>& line : lines) words->insert(words->end(), line.begin(), line.end());
  return {};
}

Status read_config_file(const std::string& path, std::vector<std::string>* words) {
  std::vector<std::vector<std::string>> lines;
  ASHLAR_TRY(read_word_lines("-configfile", path, &lines));
  for (const std::vector<std::string>& line : lines) {
    if (!words->empty()) words->push_back(":");
    words->insert(words->end(), line.begin(), line.end());
  }
  if (!words->empty()) return {};
  return fail(kErrArg, "option.file_empty", {{"file", brief(path)}});
}

}  // namespace ashlar::mpiexec
