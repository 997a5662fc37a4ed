// report/json: one JSON object per line, to standard error or a file.
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>

#include "framework/plugin/report.h"
#include "framework/plugin/report_file.h"
#include "framework/plugin/report_text.h"

namespace {

using namespace ashlar::plugin;

struct Config {
  const char* file;
};
constexpr ashlar_param kParams[] = {
    {"file", "", "File the lines are appended to; %r becomes the rank, %p the process id. Empty: standard error.",
     ASHLAR_PARAM_STRING, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, file), nullptr},
};

struct Module {
  ashlar_report head;
  ashlar_report_context context;
  int fd;
};
Module module;
const ashlar_host* host;
const Config* config;

void on_error(ashlar_report*, const ashlar_error_record* record) {
  write_whole(module.fd, error_json(module.context, *record));
}
void on_notice(ashlar_report*, const ashlar_notice* notice) {
  write_whole(module.fd, notice_json(module.context, *notice));
}
void on_decision(ashlar_report*, const ashlar_decision* decision) {
  write_whole(module.fd, decision_json(module.context, *decision));
}
constexpr ashlar_report_ops kOps = {
    .size = sizeof kOps, .error = on_error, .notice = on_notice, .decision = on_decision};

ashlar_result open_it(const ashlar_host* h, const void* c) {
  host = h;
  config = static_cast<const Config*>(c);
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = 40;
  std::snprintf(answer->reason, sizeof answer->reason, "selected; lines go to %s",
                *config->file ? config->file : "standard error");
}

ashlar_result create(const void* context, void** out) {
  module.context = *static_cast<const ashlar_report_context*>(context);
  module.head.ops = &kOps;
  module.fd = STDERR_FILENO;
  if (*config->file) {
    const std::string name = report_file_name(config->file, module.context);
    module.fd = open_report_file(name, host->elevated != 0);
    if (module.fd < 0) {
      const char* const reason = errno == ENXIO ? "it is a FIFO that nothing reads from" : std::strerror(errno);
      const ashlar_fact facts[] = {{.name = "file", .text = name.c_str(), .number = 0},
                                   {.name = "lower", .text = reason, .number = 0}};
      return ashlar_fail_with(host, ASHLAR_ERR_IO, "report.file", facts, std::size(facts));
    }
  }
  *out = &module;
  return ASHLAR_OK;
}

void destroy(void*) {
  if (module.fd != STDERR_FILENO) ::close(module.fd);
  module.fd = STDERR_FILENO;
}

}  // namespace

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = "report",
    .name = "json",
    .version = "1.0.0",
    .description = "errors, notices and decisions as JSON, one object per line",
    .interface_version = ASHLAR_REPORT_INTERFACE,
    .config_size = sizeof(Config),
    .param_count = 1,
    .params = kParams,
    .build_id = ASHLAR_BUILD_ID,
    .open = open_it,
    .query = query,
    .create = create,
    .destroy = destroy,
    .close = nullptr,
};
