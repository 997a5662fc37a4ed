// tool/summary: what the job spent its time on, in a few lines at its end (mpiexec --summary).
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>

#include "components/tool/common/recorder.h"
#include "components/tool/summary/report.h"
#include "framework/plugin/tool.h"

namespace {

using namespace ashlar;

struct Config {
  const char* calls;
};
constexpr ashlar_param kParams[] = {
    {"calls", "communication",
     "Calls that are counted: communication (what moves data or waits for it, and what begins and ends communicators), "
     "all, or a list of names such as MPI_Send,MPI_Recv.",
     ASHLAR_PARAM_STRING, ASHLAR_SCOPE_ALL, ASHLAR_USER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, calls), nullptr},
};

struct Module {
  ashlar_tool head;
  recording::Recorder recorder;
};
const ashlar_host* host;
const Config* config;

Module* of(ashlar_tool* tool) { return reinterpret_cast<Module*>(tool); }

int wants(ashlar_tool* self, std::uint32_t procedure) { return of(self)->recorder.wants(procedure); }
void enter(ashlar_tool* self, const ashlar_tool_call* call) { of(self)->recorder.enter(*call); }
void leave(ashlar_tool* self, const ashlar_tool_call* call) { of(self)->recorder.leave(*call); }

void job_end(ashlar_tool* self, const ashlar_tool_job* job) {
  of(self)->recorder.close();  // a job of one process without mpiexec: the calls were recorded here
  const std::string text = tool_summary::summary(recording::Records(*job));
  // The program's own output, in standard output, stays as it is without the tool.
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

constexpr ashlar_tool_ops kOps = {
    .size = sizeof kOps, .wants = wants, .enter = enter, .leave = leave, .job_end = job_end};

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
  const auto& c = *static_cast<const ashlar_tool_context*>(context);
  auto* const module = new Module{.head = {.ops = &kOps}, .recorder = {}};
  if (c.role == ASHLAR_TOOL_IN_RANK) {
    const ashlar_result opened = module->recorder.open(*host, c, recording::CallFilter(config->calls), /*ring=*/false);
    if (opened != ASHLAR_OK) {
      delete module;
      return opened;
    }
  }
  *out = module;
  return ASHLAR_OK;
}

void destroy(void* module) {
  auto* const m = static_cast<Module*>(module);
  m->recorder.close();
  delete m;
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
    .destroy = destroy,
    .close = nullptr,
};
