#include "framework/rma/engine.h"

#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/plugin/registry.h"

namespace ashlar::rma {

constinit Engine* Engine::current_ = nullptr;

Engine::Engine(plugin::Registry& registry, const Config& parameters) : config(parameters), registry_(registry) {
  current_ = this;
}
Engine::~Engine() { current_ = nullptr; }

plugin::Records& Engine::records() { return registry_.records(); }

Status Engine::components(std::span<const Component* const>* out) {
  const std::lock_guard guard(loading_);
  if (components_.empty()) {
    std::vector<plugin::Chosen> chosen;
    ASHLAR_TRY(registry_.select("rma", nullptr, &chosen));
    for (const plugin::Chosen& choice : chosen) {
      if (config.reference && &choice != &chosen.back()) continue;
      void* module = nullptr;
      ASHLAR_TRY(choice.component->create(nullptr, &module));
      components_.push_back(static_cast<const Component*>(module));
    }
  }
  *out = components_;
  return {};
}

}  // namespace ashlar::rma
