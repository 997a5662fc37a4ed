#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "framework/plugin/registry.h"
#include "framework/plugin/topology.h"
#include "tests/conformance/check/subject.h"

namespace ashlar::test {

/// A module of a component, destroyed with its last user.
using Module = std::shared_ptr<ashlar_topology>;

/// The component under test, and those of the installation to compare it with; each opened once.
class TopologyComponents {
 public:
  static TopologyComponents& all() {
    static TopologyComponents components;
    return components;
  }
  /// The name of the component under test when it has the capability.
  static std::vector<std::string> with(std::uint64_t capability) {
    if (subject().framework != "topology" || (all().registry_.capabilities() & capability) == 0) return {};
    return {subject().name};
  }
  /// Names of all that have the capability.
  std::vector<std::string> others(std::uint64_t capability) const {
    std::vector<std::string> names;
    for (const plugin::Chosen& c : registry_.chosen())
      if (c.capabilities & capability) names.emplace_back(c.component->name());
    return names;
  }
  Module module(const std::string& name) {
    for (const plugin::Chosen& c : registry_.chosen()) {
      if (name != c.component->name()) continue;
      ashlar_topology* made = nullptr;
      if (!c.component->create(nullptr, &made).ok()) return nullptr;
      return {made, [component = c.component](void* m) { component->destroy(m); }};
    }
    return nullptr;
  }

 private:
  TopologyComponents() = default;
  SubjectRegistry registry_{nullptr, true};
};

}  // namespace ashlar::test
