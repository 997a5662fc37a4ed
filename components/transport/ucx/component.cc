#include <cstdio>

#include "components/transport/ucx/devices.h"
#include "components/transport/ucx/interface.h"
#include "framework/plugin/transport_component.h"

namespace ashlar::ucx {
namespace {

// Between nodes, before libfabric where there is a card of the maker that UCX is written for.
constexpr std::int32_t kPriority = 40;

using Maker = plugin::InterfaceMaker<Interface>;

void query(const void* context, ashlar_answer* answer) {
  const auto& c = *static_cast<const ashlar_transport_context*>(context);
  answer->capabilities = ASHLAR_CAP_GET | ASHLAR_CAP_WAKE_FD | ASHLAR_CAP_FAILURE;
  if (Maker::host() != nullptr && Maker::host()->elevated != 0) {
    answer->priority = -1;
    std::snprintf(answer->reason, sizeof answer->reason,
                  "UCX obeys environment variables, and this process has more rights than its user");
    return;
  }
  const std::vector<Port> ports = ports_for_ucx();
  answer->priority = c.local_size >= c.job_size || ports.empty() ? 0 : kPriority;
  if (c.local_size >= c.job_size)
    std::snprintf(answer->reason, sizeof answer->reason,
                  "all %u processes are on this node; it serves there when the parameter transport names it",
                  c.job_size);
  else if (ports.empty())
    std::snprintf(answer->reason, sizeof answer->reason,
                  "this node has no card that UCX drives better than others; it serves when the parameter transport "
                  "names it");
  else
    std::snprintf(answer->reason, sizeof answer->reason, "between nodes, over UCX; this node has the card %s",
                  ports.front().name.c_str());
}

}  // namespace
}  // namespace ashlar::ucx

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
constinit const ashlar_component ashlar_component_v1 =
    ashlar::plugin::transport_component<ashlar::ucx::Interface>({.name = "ucx",
                                                                 .version = "1.0.0",
                                                                 .description = "messages between hosts over UCX",
                                                                 .param_count = ashlar::ucx::kParamCount,
                                                                 .params = ashlar::ucx::kParams,
                                                                 .build_id = ASHLAR_BUILD_ID,
                                                                 .query = ashlar::ucx::query});
