#pragma once
#include "framework/base/status.h"
#include "framework/comm/hardware.h"
#include "framework/plugin/registry.h"

namespace ashlar::runtime {

/// The topology components: one that locates and one that matches, the first of each that can serve.
class TopologyModules {
 public:
  TopologyModules() = default;
  ~TopologyModules();
  TopologyModules(const TopologyModules&) = delete;
  TopologyModules& operator=(const TopologyModules&) = delete;
  /// Chooses them. What does not work is recorded, and missing.
  void open(plugin::Registry& registry);
  const comm::Hardware& parts() const { return parts_; }

 private:
  ashlar_topology* make(plugin::Registry& registry, const std::vector<plugin::Chosen>& chosen, std::uint64_t capability,
                        const char** name);
  struct Made {
    plugin::Component* component;
    void* module;
  };
  std::vector<Made> made_;
  comm::Hardware parts_;
};

}  // namespace ashlar::runtime
