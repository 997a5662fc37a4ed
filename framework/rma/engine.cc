#include "framework/rma/engine.h"

#include <mpi.h>

#include <utility>

#include "framework/base/failure.h"
#include "framework/base/log.h"
#include "framework/base/process_barrier.h"
#include "framework/memory/heap.h"
#include "framework/object/comm_owner.h"
#include "framework/plugin/pvars.h"
#include "framework/plugin/records.h"
#include "framework/plugin/registry.h"
#include "framework/rma/create.h"
#include "framework/rma/pvars.h"

namespace ashlar::rma {

constinit Engine* Engine::current_ = nullptr;

Engine::Engine(plugin::Registry& registry, const Config& parameters) : config(parameters), registry_(registry) {
  current_ = this;
  plugin::pvar_sets().add("rma", pool_rows, this);
  ashlar::window_of = [](const Comm& own) -> Object* { return current_->window_of(own); };
}

Engine::~Engine() {
  ashlar::window_of = nullptr;
  while (RmaWindow* const window = alive_.front()) unmake(window);
  memory::forget_neighbours();
  plugin::pvar_sets().remove(pool_rows.data(), this);
  current_ = nullptr;
}

void Engine::add(RmaWindow& window) {
  const std::lock_guard guard(loading_);
  alive_.push_back(&window);
}

void Engine::remove(RmaWindow& window) {
  const std::lock_guard guard(loading_);
  List<RmaWindow>::remove(&window);
}

RmaWindow* Engine::window_of(const Comm& own) {
  const std::lock_guard guard(loading_);
  for (RmaWindow& window : alive_)
    if (window.comm == &own) return &window;
  return nullptr;
}

void Engine::record_each(plugin::Decision decision) { registry_.records().add(std::move(decision)); }

void Engine::record(plugin::Decision decision) {
  const std::lock_guard guard(loading_);
  if (recorded_.insert(decision.chosen + '\n' + decision.because + '\n' + decision.lost).second)
    registry_.records().add(std::move(decision));
}

bool Engine::fenced_by_others() {
  const std::lock_guard guard(loading_);
  if (fenced_ == Fenced::kUnknown) fenced_ = register_for_barriers() ? Fenced::kByOthers : Fenced::kByItself;
  return fenced_ == Fenced::kByOthers;
}

Status Engine::components(std::span<const Component* const>* out) {
  const std::lock_guard guard(loading_);
  if (components_.empty()) {
    std::vector<plugin::Chosen> chosen;
    ASHLAR_TRY(registry_.select("rma", nullptr, &chosen));
    const bool reference = config.get().reference;
    for (const plugin::Chosen& choice : chosen) {
      if (reference && &choice != &chosen.back()) continue;
      if (components_.size() == kMostComponents) {
        ASHLAR_LOG(warn, "rma", "more than %zu components of rma; '%s' and those after it are left out",
                   kMostComponents, choice.component->name());
        break;
      }
      void* module = nullptr;
      ASHLAR_TRY(choice.component->create(nullptr, &module));
      components_.push_back(static_cast<const Component*>(module));
    }
  }
  *out = components_;
  return {};
}

}  // namespace ashlar::rma
