#include <cstdio>

#include "components/transport/tcp/interface.h"
#include "framework/plugin/transport_component.h"

namespace ashlar::tcp {
namespace {

constexpr std::int32_t kPriority = 20;  // between nodes; shared memory is better inside one

void query(const void* context, ashlar_answer* answer) {
  const auto& c = *static_cast<const ashlar_transport_context*>(context);
  const bool one_node = c.local_size >= c.job_size;
  answer->priority = one_node ? 0 : kPriority;
  answer->capabilities = ASHLAR_CAP_GET | ASHLAR_CAP_WAKE_FD | ASHLAR_CAP_FAILURE;
  if (one_node)
    std::snprintf(answer->reason, sizeof answer->reason,
                  "all %u processes are on this node; it serves there when the parameter transport names it",
                  c.job_size);
  else
    std::snprintf(answer->reason, sizeof answer->reason, "between nodes, over TCP");
}

}  // namespace
}  // namespace ashlar::tcp

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
constinit const ashlar_component ashlar_component_v1 =
    ashlar::plugin::transport_component<ashlar::tcp::Interface>({.name = "tcp",
                                                                 .version = "1.0.0",
                                                                 .description = "messages between hosts over TCP",
                                                                 .param_count = ashlar::tcp::kParamCount,
                                                                 .params = ashlar::tcp::kParams,
                                                                 .build_id = ASHLAR_BUILD_ID,
                                                                 .query = ashlar::tcp::query});
