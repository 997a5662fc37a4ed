#pragma once
#include <string>
#include <string_view>
#include <vector>

/// What the names of trace files say of their form: mpiexec checks them before the job starts, tool/trace writes them.
namespace ashlar::plugin {

enum class TraceForm { kNone, kPage, kJson, kPrometheus, kOtf2 };

inline constexpr std::string_view kTraceForms = "FILE.html, .json, .prom or .otf2";

inline TraceForm trace_form(std::string_view file) {
  if (file.ends_with(".html")) return TraceForm::kPage;
  if (file.ends_with(".json")) return TraceForm::kJson;
  if (file.ends_with(".prom")) return TraceForm::kPrometheus;
  if (file.ends_with(".otf2")) return TraceForm::kOtf2;
  return TraceForm::kNone;
}

/// The names of a list such as "run.html,run.json".
inline std::vector<std::string> trace_files(std::string_view list) {
  std::vector<std::string> files;
  while (!list.empty()) {
    const std::size_t comma = list.find(',') == list.npos ? list.size() : list.find(',');
    if (comma > 0) files.emplace_back(list.substr(0, comma));
    list.remove_prefix(comma < list.size() ? comma + 1 : comma);
  }
  return files;
}

}  // namespace ashlar::plugin
