#include "components/tool/common/recording_tool.h"

namespace ashlar::recording {
namespace {

Recorder& recorder_of(ashlar_tool* tool) { return reinterpret_cast<RecordingTool*>(tool)->recorder; }

}  // namespace

int wants_call(ashlar_tool* self, std::uint32_t procedure) { return recorder_of(self).wants(procedure); }
int wants_event(ashlar_tool* self, std::uint32_t number) { return recorder_of(self).wants_event(number); }
void take_event(ashlar_tool* self, const ashlar_tool_event* event) { recorder_of(self).event(*event); }
std::uint64_t sampled(ashlar_tool* self) { return recorder_of(self).bytes_without_ring(); }

ashlar_result make_tool(const ashlar_host& host, const void* context, const ashlar_tool_ops& ops, const char* calls,
                        const RingPlan& ring, void** out) {
  const auto& c = *static_cast<const ashlar_tool_context*>(context);
  auto* const tool = new RecordingTool{.head = {.ops = &ops}, .recorder = {}};
  if (c.role == ASHLAR_TOOL_IN_RANK) {
    const ashlar_result opened = tool->recorder.open(host, c, CallFilter(calls), ring);
    if (opened != ASHLAR_OK) {
      delete tool;
      return opened;
    }
  }
  *out = tool;
  return ASHLAR_OK;
}

void destroy_tool(void* module) {
  auto* const tool = static_cast<RecordingTool*>(module);
  tool->recorder.close();
  delete tool;
}

}  // namespace ashlar::recording
