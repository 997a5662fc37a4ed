// tool/trace: which calls the ranks made, and when, as a page, JSON, Prometheus' text or OTF2 (mpiexec --trace).
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>

#include "components/tool/common/recording_tool.h"
#include "components/tool/trace/document.h"
#include "components/tool/trace/otf2.h"
#include "components/tool/trace/output_file.h"
#include "framework/base/catalogue.h"
#include "framework/base/error_class.h"
#include "framework/plugin/tool.h"
#include "framework/plugin/trace_forms.h"

namespace {

using namespace ashlar;

struct Config {
  const char* file;
  const char* calls;
  std::uint64_t bars, ranks, populate;
};
constexpr const char* kBarsRange[] = {"1000", "1000000", nullptr};
constexpr const char* kRanksRange[] = {"8", "4096", nullptr};
constexpr ashlar_param kParams[] = {
    {"file", "trace.html",
     "Files that are written when the job is over, separated by commas: FILE.html (a page), .json, .prom (Prometheus' "
     "text, written while the job runs, too: tools.refresh) or .otf2 (a folder).",
     ASHLAR_PARAM_STRING, ASHLAR_SCOPE_ALL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, file), nullptr},
    recording::calls_row(offsetof(Config, calls)),
    {"bars", "120000",
     "Most bars in the timeline of a page or of JSON: when more calls are there, short ones that follow each other are "
     "joined.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_ALL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, bars), kBarsRange},
    {"ranks", "256",
     "Most ranks in the timeline, and most rows of the matrix, where a row then stands for several ranks.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_ALL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, ranks), kRanksRange},
    {"populate", "16MiB",
     "Memory of tools.buffer that a rank takes from the system while it initialises MPI, for single calls: recording "
     "one waits for no memory then. The rest comes as it is filled.",
     ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, populate),
     nullptr},
};

const ashlar_host* host;
const Config* config;

void tell(const catalogue::Message& message) {
  std::fputs(("tool.trace: " + message.paragraph() + "\n").c_str(), stderr);
}

/// The texts of the forms, each made once.
class Texts {
 public:
  Texts(const recording::Records& records, const recording::Figures& figures) : records_(records), figures_(figures) {}
  const std::string& of(plugin::TraceForm form) {
    std::optional<std::string>& text = form == plugin::TraceForm::kPage   ? page_
                                       : form == plugin::TraceForm::kJson ? document_
                                                                          : prometheus_;
    if (text) return *text;
    if (form == plugin::TraceForm::kPrometheus) return text.emplace(tool_trace::prometheus(records_, figures_));
    if (form == plugin::TraceForm::kJson)
      return text.emplace(tool_trace::document(records_, figures_, {.ranks = config->ranks, .bars = config->bars}));
    return text.emplace(tool_trace::page(of(plugin::TraceForm::kJson), title()));
  }

 private:
  std::string title() const { return records_.ranks.empty() ? "MPI job" : records_.ranks[0].program + " - MPI trace"; }
  const recording::Records& records_;
  const recording::Figures& figures_;
  std::optional<std::string> document_, page_, prometheus_;
};

void job_end(ashlar_tool*, const ashlar_tool_job* job) {
  const recording::Records records(*job);
  const recording::Figures figures(records);
  Texts texts(records, figures);
  for (const std::string& file : plugin::trace_files(config->file)) {
    const plugin::TraceForm form = plugin::trace_form(file);
    std::string trouble;
    if (form == plugin::TraceForm::kOtf2)
      trouble = tool_trace::write_otf2(records, file);
    else if (const int error = tool_trace::replace_file(file, texts.of(form)); error != 0)
      trouble = std::strerror(error);
    if (trouble.empty())
      std::fprintf(stderr, "tool.trace: the trace of %zu ranks is in %s\n", figures.ranks.size(), file.c_str());
    else
      tell(catalogue::message("tool.trace_not_written", {{"file", file}, {"lower", trouble}}));
  }
  std::fflush(stderr);
}

// Metrics alone are of use while the job runs: a collector reads them every few seconds.
int job_sample(ashlar_tool*, const ashlar_tool_job* job) {
  const recording::Records records(*job);
  const recording::Figures figures(records);
  const std::string text = tool_trace::prometheus(records, figures);
  int more = 0;
  for (const std::string& file : plugin::trace_files(config->file)) {
    if (plugin::trace_form(file) != plugin::TraceForm::kPrometheus) continue;
    if (const int error = tool_trace::replace_file(file, text); error == 0)
      more = 1;
    else
      tell(catalogue::message("tool.trace_not_refreshed", {{"file", file}, {"lower", std::strerror(error)}}));
  }
  std::fflush(stderr);
  return more;
}

constexpr ashlar_tool_ops kOps = recording::ops_with(job_end, job_sample);

ashlar_result open_it(const ashlar_host* h, const void* c) {
  host = h;
  config = static_cast<const Config*>(c);
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = 20;
  std::snprintf(answer->reason, sizeof answer->reason, "it records calls for %s", config->file);
}

ashlar_result create(const void* context, void** out) {
  for (const std::string& file : plugin::trace_files(config->file)) {
    if (plugin::trace_form(file) != plugin::TraceForm::kNone) continue;
    const std::string forms(plugin::kTraceForms);
    const ashlar_fact facts[] = {{.name = "file", .text = file.c_str(), .number = 0},
                                 {.name = "wanted", .text = forms.c_str(), .number = 0}};
    return ashlar_fail_with(host, kErrArg, "tool.trace_name", facts, std::size(facts));
  }
  return recording::make_tool(*host, context, kOps, config->calls, {.kept = true, .populated = config->populate}, out);
}

}  // namespace

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = ASHLAR_TOOL_FRAMEWORK,
    .name = "trace",
    .version = "1.0.0",
    .description = "which calls the ranks made, and when: a page, JSON, Prometheus' text, OTF2",
    .interface_version = ASHLAR_TOOL_INTERFACE,
    .config_size = sizeof(Config),
    .param_count = std::size(kParams),
    .params = kParams,
    .build_id = ASHLAR_BUILD_ID,
    .open = open_it,
    .query = query,
    .create = create,
    .destroy = recording::destroy_tool,
    .close = nullptr,
};
