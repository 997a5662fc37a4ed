#include "framework/mpit/start_params.h"

#include <unistd.h>

#include <cstddef>
#include <string>

#include "framework/param/sources.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/setup.h"
#include "framework/runtime/choose_launch.h"

namespace ashlar::mpit {

void StartParams::read() {
  const std::string prefix = param::installation_prefix();
  std::string text;
  plugin::Chosen chosen;
  void* module = nullptr;
  (void)plugin::begin(prefix, environ, &params, &registry).ok();
  if (runtime::choose_launch(registry, &chosen).ok() && chosen.component->create(nullptr, &module).ok()) {
    auto* const launch = static_cast<ashlar_launch*>(module);
    const ashlar_launch_ops& ops = *launch->ops;
    if (ops.size > offsetof(ashlar_launch_ops, parameters) && ops.parameters != nullptr) {
      const auto keep = [](void* to, const char* parameters) { *static_cast<std::string*>(to) = parameters; };
      (void)ops.parameters(launch, keep, &text);
    }
    chosen.component->destroy(module);
  }
  if (!text.empty())
    (void)plugin::adopt(prefix, text, environ, &params, &registry).ok();
  else
    (void)plugin::configure(prefix, param::standard_sources(prefix), &params, &registry).ok();
}

}  // namespace ashlar::mpit
