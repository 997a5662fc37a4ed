// topology/treematch: matches the tree of the hardware with the pattern of a program's communication.
#include <cstdio>
#include <cstring>

#include "components/topology/treematch/matcher.h"
#include "framework/plugin/topology.h"

namespace {

ashlar_result match(ashlar_topology*, const ashlar_topology_problem* problem, std::int32_t* order) {
  const std::vector<std::int32_t> found = ashlar::treematch::match(*problem);
  if (!found.empty()) std::memcpy(order, found.data(), found.size() * sizeof found[0]);
  return ASHLAR_OK;
}

constexpr ashlar_topology_ops kOps = {.size = sizeof kOps, .type = nullptr, .instance = nullptr, .match = match};
ashlar_topology module{&kOps};

void query(const void*, ashlar_answer* answer) {
  answer->priority = 50;
  answer->capabilities = ASHLAR_TOPOLOGY_MATCHES;
  std::snprintf(answer->reason, sizeof answer->reason, "divides patterns over the tree of hardware");
}

ashlar_result create(const void*, void** out) {
  *out = &module;
  return ASHLAR_OK;
}
void destroy(void*) {}

}  // namespace

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = ASHLAR_TOPOLOGY_FRAMEWORK,
    .name = "treematch",
    .version = "1.0.0",
    .description = "brings processes that talk to each other close together on the hardware",
    .interface_version = ASHLAR_TOPOLOGY_INTERFACE,
    .config_size = 0,
    .param_count = 0,
    .params = nullptr,
    .build_id = 0,
    .open = nullptr,
    .query = query,
    .create = create,
    .destroy = destroy,
    .close = nullptr,
};
