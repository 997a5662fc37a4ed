#include <cstdio>
#include <new>

#include "components/transport/shm/config.h"
#include "components/transport/shm/counters.h"
#include "components/transport/shm/interface.h"
#include "components/transport/shm/pvars.h"
#include "framework/plugin/component.h"
#include "framework/plugin/transport.h"

namespace ashlar::shm {
namespace {

constexpr std::int32_t kPriority = 50;

const ashlar_host* the_host = nullptr;
const Config* the_config = nullptr;
Counters counters;  // zero-initialised; read through the pointers below for the life of the process

const std::uint64_t* value_of(const std::atomic<std::uint64_t>& counter) {
  return reinterpret_cast<const std::uint64_t*>(&counter);
}

void add_pvars(const ashlar_host& host) {
  static const ashlar_pvar rows[] = {
      {"rings", "rings of other processes that send to this one", ASHLAR_PVAR_LEVEL, value_of(counters.rings)},
      {"ring_memory", "bytes of these rings", ASHLAR_PVAR_LEVEL, value_of(counters.ring_bytes)},
      {"full", "sends put off because the ring was full", ASHLAR_PVAR_COUNTER, value_of(counters.full)},
      {"gets", "single copies begun by this process", ASHLAR_PVAR_COUNTER, value_of(counters.gets)},
      {"gets_shared", "single copies in which the owner may copy too", ASHLAR_PVAR_COUNTER,
       value_of(counters.gets_shared)},
      {"chunks_helped", "chunks this process copied for readers of its memory", ASHLAR_PVAR_COUNTER,
       value_of(counters.chunks_helped)},
      {"sleeps", "times this process went to sleep waiting for messages", ASHLAR_PVAR_COUNTER,
       value_of(counters.sleeps)},
      {"descriptor_clients", "peers that are being passed the descriptor (transport.shm.descriptor_clients)",
       ASHLAR_PVAR_LEVEL, value_of(counters.clients)},
      {"descriptor_clients_most", "the most such peers at one time on one lane, since the start", ASHLAR_PVAR_LEVEL,
       value_of(counters.clients_most)},
      {"descriptors_passed", "peers that were passed the descriptor", ASHLAR_PVAR_COUNTER, value_of(counters.passed)},
      {"strangers", "connections that were closed: another user's, or without the request of a peer",
       ASHLAR_PVAR_COUNTER, value_of(counters.turned_away)},
  };
  if (host.add_pvars) host.add_pvars("transport", "shm", rows, sizeof rows / sizeof rows[0]);
}

ashlar_result open(const ashlar_host* host, const void* config) {
  the_host = host;
  the_config = static_cast<const Config*>(config);
  add_pvars(*host);
  introduce(*host);
  return ASHLAR_OK;
}

void query(const void* context, ashlar_answer* answer) {
  const auto& c = *static_cast<const ashlar_transport_context*>(context);
  answer->priority = kPriority;
  answer->capabilities = ASHLAR_CAP_GET | ASHLAR_CAP_PUT | ASHLAR_CAP_POST | ASHLAR_CAP_WAKE_WORD | ASHLAR_CAP_FAILURE;
  std::snprintf(answer->reason, sizeof answer->reason, "shared memory among the %u processes of this node",
                c.local_size);
}

ashlar_result create(const void* context, void** module) {
  const auto& c = *static_cast<const ashlar_transport_context*>(context);
  auto* iface = new (std::nothrow) Interface(*the_host, *the_config, c, counters);
  if (!iface) return ashlar_fail_no_memory(the_host, "the shared memory transport", sizeof *iface);
  if (const ashlar_result r = iface->open(); r != ASHLAR_OK) {
    delete iface;
    return r;
  }
  *module = static_cast<ashlar_iface*>(iface);
  return ASHLAR_OK;
}

void destroy(void* module) { delete static_cast<Interface*>(static_cast<ashlar_iface*>(module)); }

}  // namespace
}  // namespace ashlar::shm

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
constinit const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = "transport",
    .name = "shm",
    .version = "1.0.0",
    .description = "messages and single copies between processes of one node",
    .interface_version = ASHLAR_TRANSPORT_INTERFACE,
    .config_size = sizeof(ashlar::shm::Config),
    .param_count = ashlar::shm::kParamCount,
    .params = ashlar::shm::kParams,
    .build_id = ASHLAR_BUILD_ID,
    .open = ashlar::shm::open,
    .query = ashlar::shm::query,
    .create = ashlar::shm::create,
    .destroy = ashlar::shm::destroy,
    .close = nullptr,
};
