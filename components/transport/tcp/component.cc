#include <cstdio>
#include <new>

#include "components/transport/tcp/interface.h"
#include "framework/plugin/component.h"
#include "framework/plugin/transport.h"

namespace ashlar::tcp {
namespace {

constexpr std::int32_t kPriority = 20;  // between nodes; shared memory is better inside one

const ashlar_host* the_host = nullptr;
const Config* the_config = nullptr;

ashlar_result open(const ashlar_host* host, const void* config) {
  the_host = host;
  the_config = static_cast<const Config*>(config);
  show(*host, nullptr);
  return ASHLAR_OK;
}

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

ashlar_result create(const void* context, void** module) {
  const auto& c = *static_cast<const ashlar_transport_context*>(context);
  auto* iface = new (std::nothrow) Interface(*the_host, *the_config, c);
  if (!iface) return ashlar_fail_no_memory(the_host, "the TCP transport", sizeof *iface);
  if (const ashlar_result r = iface->open(); r != ASHLAR_OK) {
    delete iface;
    return r;
  }
  *module = static_cast<ashlar_iface*>(iface);
  return ASHLAR_OK;
}

void destroy(void* module) { delete static_cast<Interface*>(static_cast<ashlar_iface*>(module)); }

}  // namespace
}  // namespace ashlar::tcp

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
constinit const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = "transport",
    .name = "tcp",
    .version = "1.0.0",
    .description = "messages between hosts over TCP",
    .interface_version = ASHLAR_TRANSPORT_INTERFACE,
    .config_size = sizeof(ashlar::tcp::Config),
    .param_count = ashlar::tcp::kParamCount,
    .params = ashlar::tcp::kParams,
    .build_id = ASHLAR_BUILD_ID,
    .open = ashlar::tcp::open,
    .query = ashlar::tcp::query,
    .create = ashlar::tcp::create,
    .destroy = ashlar::tcp::destroy,
    .close = nullptr,
};
