#pragma once
#include <cstdint>

#include "components/tool/common/recorder.h"

/// What the components that record have alike: the module, and the functions of its table that know nothing of what is
/// made of the records.
namespace ashlar::recording {

struct RecordingTool {
  ashlar_tool head;
  Recorder recorder;
};

// Of ashlar_tool_ops. The first two are around every call that is recorded (recorder.cc).
void enter_call(ashlar_tool* self, const ashlar_tool_call* call);
void leave_call(ashlar_tool* self, const ashlar_tool_call* call);
int wants_call(ashlar_tool* self, std::uint32_t procedure);
int wants_event(ashlar_tool* self, std::uint32_t number);
void take_event(ashlar_tool* self, const ashlar_tool_event* event);
std::uint64_t sampled(ashlar_tool* self);

/// The table of a component with these two ends.
constexpr ashlar_tool_ops ops_with(void (*job_end)(ashlar_tool*, const ashlar_tool_job*),
                                   int (*job_sample)(ashlar_tool*, const ashlar_tool_job*)) {
  return {.size = sizeof(ashlar_tool_ops),
          .wants = wants_call,
          .enter = enter_call,
          .leave = leave_call,
          .job_end = job_end,
          .wants_event = wants_event,
          .event = take_event,
          .job_sample = job_sample,
          .sampled = sampled};
}

/// The parameter `calls`: a text at `offset` of the component's configuration.
constexpr ashlar_param calls_row(std::uint32_t offset) {
  return {"calls",
          "communication",
          "Calls that are recorded: communication (what moves data or waits for it, and what begins and ends "
          "communicators), all, or a list of names such as MPI_Send,MPI_Recv.",
          ASHLAR_PARAM_STRING,
          ASHLAR_SCOPE_ALL,
          ASHLAR_USER_DETAIL,
          ASHLAR_PARAM_FROZEN,
          offset,
          nullptr};
}

/// create(): a module with this table, which records in a rank.
ashlar_result make_tool(const ashlar_host& host, const void* context, const ashlar_tool_ops& ops, const char* calls,
                        const RingPlan& ring, void** out);
void destroy_tool(void* module);

}  // namespace ashlar::recording
