#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "framework/plugin/registry.h"
#include "framework/plugin/topology.h"

namespace ashlar::test {

/// A module of a component, destroyed with its last user.
using Module = std::shared_ptr<ashlar_topology>;

/// Every topology component of the build that can serve, opened once.
class TopologyComponents {
 public:
  static TopologyComponents& all() {
    static TopologyComponents components;
    return components;
  }
  /// Names of those with a capability.
  static std::vector<std::string> with(std::uint64_t capability) {
    std::vector<std::string> names;
    for (const plugin::Chosen& c : all().chosen_)
      if (c.capabilities & capability) names.emplace_back(c.component->name());
    return names;
  }
  Module module(const std::string& name) {
    for (const plugin::Chosen& c : chosen_) {
      if (name != c.component->name()) continue;
      void* made = nullptr;
      if (!c.component->create(nullptr, &made).ok()) return nullptr;
      return {static_cast<ashlar_topology*>(made), [component = c.component](void* m) { component->destroy(m); }};
    }
    return nullptr;
  }

 private:
  TopologyComponents() {
    registry_.add_folder(ASHLAR_COMPONENT_DIR);
    (void)registry_.select("topology", nullptr, &chosen_).ok();
  }
  param::Store store_;
  plugin::Registry registry_{&store_};
  std::vector<plugin::Chosen> chosen_;
};

}  // namespace ashlar::test
