// report/stderr: clear paragraphs for people.
#include <unistd.h>

#include <cstdio>

#include "framework/plugin/report.h"
#include "framework/plugin/report_text.h"

namespace {

using namespace ashlar::plugin;

struct Module {
  ashlar_report head;
  ashlar_report_context context;
};
Module module;

void on_error(ashlar_report*, const ashlar_error_record* record) {
  if (record->fatal && module.context.launcher_tells) return;
  write_whole(STDERR_FILENO, error_text(module.context, *record));
}
void on_notice(ashlar_report*, const ashlar_notice* notice) {
  write_whole(STDERR_FILENO, notice_text(module.context, *notice));
}
void on_decision(ashlar_report*, const ashlar_decision* decision) {
  write_whole(STDERR_FILENO, decision_text(*decision));
}
constexpr ashlar_report_ops kOps = {
    .size = sizeof kOps, .error = on_error, .notice = on_notice, .decision = on_decision};

void query(const void*, ashlar_answer* answer) {
  answer->priority = 50;
  std::snprintf(answer->reason, sizeof answer->reason, "standard error is always there");
}

ashlar_result create(const void* context, void** out) {
  module.context = *static_cast<const ashlar_report_context*>(context);
  module.head.ops = &kOps;
  *out = &module;
  return ASHLAR_OK;
}
void destroy(void*) {}

}  // namespace

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = "report",
    .name = "stderr",
    .version = "1.0.0",
    .description = "errors, notices and decisions as paragraphs on standard error",
    .interface_version = ASHLAR_REPORT_INTERFACE,
    .config_size = 0,
    .param_count = 0,
    .params = nullptr,
    .build_id = ASHLAR_BUILD_ID,
    .open = nullptr,
    .query = query,
    .create = create,
    .destroy = destroy,
    .close = nullptr,
};
