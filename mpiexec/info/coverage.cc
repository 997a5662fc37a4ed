#include "mpiexec/info/coverage.h"

#include <cstdio>
#include <fstream>
#include <map>
#include <vector>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/plugin/records.h"
#include "mpiexec/text.h"

namespace ashlar::info {
namespace {

using plugin::json_string;

constexpr std::size_t kColumns = 100;

struct Chapter {
  std::vector<std::string> implemented, unsupported;
  std::size_t size() const { return implemented.size() + unsupported.size(); }
};

/// Words after each other, in lines that begin with `indent`.
std::string paragraph(const std::vector<std::string>& words, const std::string& indent) {
  std::string out = indent;
  std::size_t column = indent.size();
  for (const std::string& word : words) {
    if (column + word.size() > kColumns && column > indent.size()) {
      out.back() = '\n';
      out += indent;
      column = indent.size();
    }
    out += word + " ";
    column += word.size() + 1;
  }
  out.back() = '\n';
  return out;
}

std::string as_json(const std::map<std::string, Chapter>& chapters) {
  std::string out = "{";
  for (const auto& [name, chapter] : chapters) {
    out += (out.size() > 1 ? ",\n " : "\n ") + json_string(name) + ":{";
    bool first = true;
    for (const auto& [state, list] :
         {std::pair("implemented", &chapter.implemented), {"unsupported", &chapter.unsupported}})
      for (const std::string& function : *list) {
        out += (first ? "" : ",") + json_string(function) + ":" + json_string(state);
        first = false;
      }
    out += "}";
  }
  return out + "\n}\n";
}

std::string as_text(const std::map<std::string, Chapter>& chapters) {
  std::size_t done = 0, all = 0;
  std::string table, lists;
  for (const auto& [name, chapter] : chapters) {
    done += chapter.implemented.size();
    all += chapter.size();
    char row[80];
    std::snprintf(row, sizeof row, "  %-13s%4zu of %4zu%s\n", name.c_str(), chapter.implemented.size(), chapter.size(),
                  chapter.unsupported.empty()   ? ""
                  : chapter.implemented.empty() ? "   none so far"
                                                : "");
    table += row;
    if (!chapter.unsupported.empty()) lists += "  " + name + "\n" + paragraph(chapter.unsupported, "    ");
  }
  std::string out = std::to_string(done) + " of " + std::to_string(all) + " functions are implemented:\n\n" + table;
  if (!lists.empty())
    out += "\nThese are not; they give MPI_ERR_UNSUPPORTED_OPERATION (MPI_T_: MPI_T_ERR_NOT_SUPPORTED):\n\n" + lists;
  return out;
}

}  // namespace

Status coverage(const std::string& prefix, bool json, std::string* out) {
  const std::string path = prefix + "/share/ashlar/coverage.txt";
  std::ifstream file(path);
  if (!file) return fail(kErrNoSuchFile, "info.no_coverage", {{"file", mpiexec::brief(path)}});
  std::map<std::string, Chapter> chapters;
  std::string function, state, chapter;
  while (file >> function >> state >> chapter)
    (state == "implemented" ? chapters[chapter].implemented : chapters[chapter].unsupported).push_back(function);
  *out = json ? as_json(chapters) : as_text(chapters);
  return {};
}

}  // namespace ashlar::info
