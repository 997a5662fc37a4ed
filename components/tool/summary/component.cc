// tool/summary: what the job spent its time on, in a few lines at its end (mpiexec --summary).
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>

#include "components/tool/common/recording_tool.h"
#include "components/tool/summary/report.h"
#include "framework/plugin/tool.h"

namespace {

using namespace ashlar;

struct Config {
  const char* calls;
};
constexpr ashlar_param kParams[] = {recording::calls_row(offsetof(Config, calls))};

const ashlar_host* host;
const Config* config;

void job_end(ashlar_tool*, const ashlar_tool_job* job) {
  const std::string text = tool_summary::summary(recording::Records(*job));
  // The program's own output, in standard output, stays as it is without the tool.
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

constexpr ashlar_tool_ops kOps = recording::ops_with(job_end, nullptr);

ashlar_result open_it(const ashlar_host* h, const void* c) {
  host = h;
  config = static_cast<const Config*>(c);
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = 20;
  std::snprintf(answer->reason, sizeof answer->reason, "it counts calls wherever there are some");
}

ashlar_result create(const void* context, void** out) {
  return recording::make_tool(*host, context, kOps, config->calls, {.kept = false}, out);
}

}  // namespace

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = ASHLAR_TOOL_FRAMEWORK,
    .name = "summary",
    .version = "1.0.0",
    .description = "what the job spent its time on, in a few lines at its end",
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
