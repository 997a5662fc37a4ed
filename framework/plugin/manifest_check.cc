// What differs between a manifest and the folder it describes. There is no second reader of manifests: what would be
// written now is compared with what is there, field by field.
#include <map>

#include "framework/base/failure.h"
#include "framework/param/trust.h"
#include "framework/plugin/manifest.h"

namespace ashlar::plugin {
namespace {

constexpr const char* kComponentFields[] = {"kind",
                                            "file",
                                            "size of the file",
                                            "time of the file",
                                            "size of the statement",
                                            "contract",
                                            "minor",
                                            "framework",
                                            "name",
                                            "version",
                                            "interface",
                                            "config",
                                            "build",
                                            "description"};
constexpr const char* kRefusedFields[] = {"kind", "file", "size of the file", "time of the file", "reason"};
constexpr const char* kParameterFields[] = {"kind",  "name",   "type",    "scope", "level",
                                            "flags", "offset", "default", "help",  "choices"};

std::vector<std::string> cut(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

const char* field_name(const std::string& kind, std::size_t field) {
  const std::span<const char* const> names = kind == "C"   ? std::span<const char* const>(kComponentFields)
                                             : kind == "X" ? std::span<const char* const>(kRefusedFields)
                                                           : std::span<const char* const>(kParameterFields);
  return field < names.size() ? names[field] : "field";
}

/// A row of a component and those of its parameters, with the number of the first line.
struct Block {
  int line = 0;
  std::vector<std::string> rows;
  std::string file() const { return cut(rows.front(), '\t').size() > 1 ? cut(rows.front(), '\t')[1] : ""; }
};

class Check {
 public:
  Check(std::string path, std::vector<std::string>* mistakes) : path_(std::move(path)), mistakes_(*mistakes) {}

  void compare(const std::string& there, const std::string& wanted) {
    std::map<std::string, Block> expected;
    for (Block& block : blocks(wanted, false)) {
      std::string file = block.file();
      expected.emplace(std::move(file), std::move(block));
    }
    std::map<std::string, int> seen;
    for (const Block& block : blocks(there, true)) {
      const std::string file = block.file();
      if (const auto [first, fresh] = seen.emplace(file, block.line); !fresh) {
        mistake(block.line, "'" + file + "' has a row already, in line " + std::to_string(first->second));
      } else if (const auto row = expected.find(file); row == expected.end()) {
        mistake(block.line, "there is no '" + file + "' in the folder");
      } else {
        compare_rows(block, row->second);
      }
    }
    for (const auto& [file, block] : expected)
      if (!seen.contains(file)) mistake(1, "'" + file + "' of the folder has no row");
  }

  void header(const std::string& there, const std::string& wanted) {
    const std::string first = there.substr(0, there.find('\n')), right = wanted.substr(0, wanted.find('\n'));
    const std::string form = right.substr(0, right.find('\t'));
    if (first.substr(0, first.find('\t')) != form) {
      mistake(1, "'" + first.substr(0, 60) + "' is not the first line of a manifest, '" + form + "'");
    } else if (first != right) {
      mistake(1, "the folder has changed since this was written: every start looks into its files");
    }
  }

 private:
  void mistake(int line, const std::string& sentence) {
    mistakes_.push_back(path_ + ":" + std::to_string(line) + ": " + sentence);
  }

  std::vector<Block> blocks(const std::string& text, bool complain) {
    std::vector<Block> found;
    std::vector<std::string> lines = cut(text, '\n');
    if (complain && !lines.back().empty())
      mistake(static_cast<int>(lines.size()), "the line has no end: it was not written whole");
    lines.pop_back();
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const std::string kind = cut(lines[i], '\t').front();
      const int line = static_cast<int>(i) + 1;
      if (kind == "C" || kind == "X") {
        found.push_back({.line = line, .rows = {lines[i]}});
      } else if (kind == "P" && !found.empty()) {
        found.back().rows.push_back(lines[i]);
      } else if (kind == "E" && i + 1 == lines.size()) {
        if (complain && lines[i] != "E\t" + std::to_string(i - 1))
          mistake(line, "the last line must have the number of rows, " + std::to_string(i - 1));
        return found;
      } else if (complain) {
        mistake(line, kind == "P" ? "a parameter (P) without a component (C) before it"
                                  : "'" + kind.substr(0, 20) + "' is no row; there are C, P, X, and E at the end");
      }
    }
    if (complain) mistake(static_cast<int>(lines.size()), "the last line (E) is missing: the end was cut off");
    return found;
  }

  void compare_rows(const Block& there, const Block& wanted) {
    for (std::size_t i = 0; i < there.rows.size() && i < wanted.rows.size(); ++i)
      compare_fields(there.line + static_cast<int>(i), cut(there.rows[i], '\t'), cut(wanted.rows[i], '\t'));
    const auto parameters = [](const Block& block) { return std::to_string(block.rows.size() - 1); };
    if (there.rows.size() != wanted.rows.size())
      mistake(there.line, "'" + there.file() + "' has " + parameters(there) + " rows of parameters; the file has " +
                              parameters(wanted));
  }

  void compare_fields(int line, const std::vector<std::string>& there, const std::vector<std::string>& wanted) {
    if (there.front() != wanted.front())
      return mistake(line, "the row is of kind '" + there.front() + "'; now it would be '" + wanted.front() + "'");
    if (there.size() != wanted.size())
      return mistake(line, std::to_string(there.size()) + " fields; a row of kind '" + wanted.front() + "' has " +
                               std::to_string(wanted.size()));
    for (std::size_t i = 0; i < there.size(); ++i) {
      if (there[i] == wanted[i]) continue;
      mistake(line, std::string(field_name(wanted.front(), i)) + " is '" + there[i].substr(0, 60) +
                        "'; now it would be '" + wanted[i].substr(0, 60) + "'");
    }
  }

  const std::string path_;
  std::vector<std::string>& mistakes_;
};

}  // namespace

Status check_manifest(const std::string& path, const Accepts& kernel, std::vector<std::string>* mistakes) {
  std::string there, wanted;
  ASHLAR_TRY(param::read_trusted(path, param::Trust::installed(), &there));
  const std::string folder = path.ends_with(".manifest") ? path.substr(0, path.size() - 9) : path;
  ASHLAR_TRY(Folder::manifest_text(folder, kernel, &wanted));
  Check check(path, mistakes);
  check.header(there, wanted);
  check.compare(there, wanted);
  return {};
}

}  // namespace ashlar::plugin
