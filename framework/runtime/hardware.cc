#include "framework/runtime/hardware.h"

#include <unistd.h>

#include "framework/object/info.h"
#include "framework/object/info_api.h"
#include "framework/plugin/setup.h"
#include "framework/runtime/api.h"
#include "framework/runtime/process.h"

namespace ashlar::runtime {

TopologyModules::~TopologyModules() {
  for (const Made& made : made_) made.component->destroy(made.module);
}

ashlar_topology* TopologyModules::make(plugin::Registry& registry, const std::vector<plugin::Chosen>& chosen,
                                       std::uint64_t capability, const char** name) {
  for (const plugin::Chosen& candidate : chosen) {
    if ((candidate.capabilities & capability) == 0) continue;
    ashlar_topology* module = nullptr;
    if (const Status made = candidate.component->create(nullptr, &module); !made.ok()) {
      registry.records().add({"topology", std::string("start of ") + candidate.component->name(), "left out",
                              made.text(), "", "topology"});
      continue;
    }
    made_.push_back({candidate.component, module});
    *name = candidate.component->name();
    return module;
  }
  return nullptr;
}

void TopologyModules::open(plugin::Registry& registry) {
  std::vector<plugin::Chosen> chosen;
  if (const Status selected = registry.select("topology", nullptr, &chosen); !selected.ok())
    registry.records().add({"topology", "components", "none", selected.text(), "", "topology"});
  parts_.locator = make(registry, chosen, ASHLAR_TOPOLOGY_LOCATES, &parts_.locator_name);
  parts_.matcher = make(registry, chosen, ASHLAR_TOPOLOGY_MATCHES, &parts_.matcher_name);
}

namespace {

Status fill(const comm::Hardware& parts, Info* info) {
  ashlar_topology* const locator = parts.locator;
  for (std::uint32_t i = 0; locator; ++i) {
    const char* const type = locator->ops->type(locator, i);
    if (!type) break;
    ASHLAR_TRY(info::set(info, type, locator->ops->instance(locator, type) >= 0 ? "true" : "false"));
  }
  return {};
}

}  // namespace

Status get_hw_resource_info(Info** info) {
  ASHLAR_TRY(info::create(info));
  if (Process* const process = Process::current()) return fill(process->hardware(), *info);
  // Before the process has joined its job: by components of the moment, as far as the environment alone tells.
  param::Store params;
  plugin::Registry registry(&params);
  (void)plugin::begin(param::installation_prefix(), environ, &params, &registry).ok();
  TopologyModules modules;
  modules.open(registry);
  return fill(modules.parts(), *info);
}

}  // namespace ashlar::runtime
