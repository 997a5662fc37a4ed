#include <cstdio>

#include "components/transport/self/loopback.h"
#include "framework/plugin/transport_component.h"

namespace ashlar::loopback {
namespace {

constexpr std::int32_t kPriority = 90;  // nothing is nearer than oneself

constexpr const char* kQueueRange[] = {"0", "64GiB", nullptr};
constexpr ashlar_param kParams[] = {
    {"queue_bytes", "1MiB", "Bytes of messages to oneself that may wait for progress.", ASHLAR_PARAM_BYTES,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN,
     static_cast<std::uint32_t>(offsetof(Config, queue_bytes)), kQueueRange},
};

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  answer->capabilities = ASHLAR_CAP_GET | ASHLAR_CAP_PUT | ASHLAR_CAP_AMO | ASHLAR_CAP_SELF;
  std::snprintf(answer->reason, sizeof answer->reason, "messages of a process to itself");
}

}  // namespace
}  // namespace ashlar::loopback

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
constinit const ashlar_component ashlar_component_v1 =
    ashlar::plugin::transport_component<ashlar::loopback::Interface>({.name = "self",
                                                                      .version = "1.0.0",
                                                                      .description = "messages of a process to itself",
                                                                      .param_count = 1,
                                                                      .params = ashlar::loopback::kParams,
                                                                      .build_id = ASHLAR_BUILD_ID,
                                                                      .query = ashlar::loopback::query});
