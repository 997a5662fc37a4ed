#include "framework/runtime/choose_launch.h"

namespace ashlar::runtime {

Status choose_launch(plugin::Registry& registry, plugin::Chosen* chosen) {
  // Ours first, which is the cheapest to ask; the process alone last.
  constexpr const char* kOrder[] = {"native", "pmix", "pmi"};
  return registry.select_first("launch", nullptr, kOrder, chosen);
}

}  // namespace ashlar::runtime
