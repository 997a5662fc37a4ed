#include <cstdio>

#include "components/transport/shm/interface.h"
#include "framework/plugin/transport_component.h"

namespace ashlar::shm {
namespace {

constexpr std::int32_t kPriority = 50;

void query(const void* context, ashlar_answer* answer) {
  const auto& c = *static_cast<const ashlar_transport_context*>(context);
  answer->priority = kPriority;
  answer->capabilities = ASHLAR_CAP_GET | ASHLAR_CAP_PUT | ASHLAR_CAP_POST | ASHLAR_CAP_WAKE_WORD | ASHLAR_CAP_FAILURE;
  std::snprintf(answer->reason, sizeof answer->reason, "shared memory among the %u processes of this node",
                c.local_size);
}

}  // namespace
}  // namespace ashlar::shm

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
constinit const ashlar_component ashlar_component_v1 = ashlar::plugin::transport_component<ashlar::shm::Interface>(
    {.name = "shm",
     .version = "1.0.0",
     .description = "messages and single copies between processes of one node",
     .param_count = ashlar::shm::kParamCount,
     .params = ashlar::shm::kParams,
     .build_id = ASHLAR_BUILD_ID,
     .query = ashlar::shm::query});
