#include <cstdio>
#include <new>

#include "components/transport/self/loopback.h"
#include "framework/plugin/component.h"
#include "framework/plugin/transport.h"

namespace ashlar::loopback {
namespace {

constexpr std::int32_t kPriority = 90;  // nothing is nearer than oneself

const ashlar_host* the_host = nullptr;
const Config* the_config = nullptr;

constexpr const char* kQueueRange[] = {"0", "64GiB", nullptr};
constexpr ashlar_param kParams[] = {
    {"queue_bytes", "1MiB", "Bytes of messages to oneself that may wait for progress.", ASHLAR_PARAM_BYTES,
     ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN,
     static_cast<std::uint32_t>(offsetof(Config, queue_bytes)), kQueueRange},
};

ashlar_result open(const ashlar_host* host, const void* config) {
  the_host = host;
  the_config = static_cast<const Config*>(config);
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  answer->capabilities = ASHLAR_CAP_GET | ASHLAR_CAP_PUT | ASHLAR_CAP_AMO | ASHLAR_CAP_SELF;
  std::snprintf(answer->reason, sizeof answer->reason, "messages of a process to itself");
}

ashlar_result create(const void* context, void** module) {
  auto* iface =
      new (std::nothrow) Interface(*the_host, *the_config, *static_cast<const ashlar_transport_context*>(context));
  if (!iface) return ashlar_fail_no_memory(the_host, "the loopback transport", sizeof *iface);
  *module = static_cast<ashlar_iface*>(iface);
  return ASHLAR_OK;
}

void destroy(void* module) { delete static_cast<Interface*>(static_cast<ashlar_iface*>(module)); }

}  // namespace
}  // namespace ashlar::loopback

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = "transport",
    .name = "self",
    .version = "1.0.0",
    .description = "messages of a process to itself",
    .interface_version = ASHLAR_TRANSPORT_INTERFACE,
    .config_size = sizeof(ashlar::loopback::Config),
    .param_count = 1,
    .params = ashlar::loopback::kParams,
    .build_id = ASHLAR_BUILD_ID,
    .open = ashlar::loopback::open,
    .query = ashlar::loopback::query,
    .create = ashlar::loopback::create,
    .destroy = ashlar::loopback::destroy,
    .close = nullptr,
};
