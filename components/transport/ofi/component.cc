#include <cstdio>

#include "components/transport/common/card.h"
#include "components/transport/ofi/interface.h"
#include "framework/plugin/transport_component.h"

namespace ashlar::ofi {
namespace {

// Between nodes, where there is a card that TCP would not use well; shared memory is better inside a node.
constexpr std::int32_t kPriority = 30;

using Maker = plugin::InterfaceMaker<Interface>;

void query(const void* context, ashlar_answer* answer) {
  const auto& c = *static_cast<const ashlar_transport_context*>(context);
  answer->capabilities = ASHLAR_CAP_GET | ASHLAR_CAP_WAKE_FD | ASHLAR_CAP_FAILURE;
  if (Maker::host() != nullptr && Maker::host()->elevated != 0) {
    answer->priority = -1;
    std::snprintf(answer->reason, sizeof answer->reason,
                  "libfabric obeys environment variables, and this process has more rights than its user");
    return;
  }
  const std::vector<network::Card> cards = network::cards();
  answer->priority = c.local_size >= c.job_size || cards.empty() ? 0 : kPriority;
  if (c.local_size >= c.job_size)
    std::snprintf(answer->reason, sizeof answer->reason,
                  "all %u processes are on this node; it serves there when the parameter transport names it",
                  c.job_size);
  else if (cards.empty())
    std::snprintf(answer->reason, sizeof answer->reason,
                  "this node has no card that libfabric drives better than TCP; it serves when the parameter transport "
                  "names it");
  else
    std::snprintf(answer->reason, sizeof answer->reason, "between nodes, over libfabric; this node has the card %s",
                  cards.front().name.c_str());
}

}  // namespace
}  // namespace ashlar::ofi

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
constinit const ashlar_component ashlar_component_v1 =
    ashlar::plugin::transport_component<ashlar::ofi::Interface>({.name = "ofi",
                                                                 .version = "1.0.0",
                                                                 .description = "messages between hosts over libfabric",
                                                                 .param_count = ashlar::ofi::kParamCount,
                                                                 .params = ashlar::ofi::kParams,
                                                                 .build_id = ASHLAR_BUILD_ID,
                                                                 .query = ashlar::ofi::query});
