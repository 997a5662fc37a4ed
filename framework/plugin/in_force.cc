#include "framework/plugin/in_force.h"

#include <algorithm>

#include "framework/base/log.h"
#include "framework/param/table.h"
#include "framework/plugin/registry.h"

namespace ashlar::plugin {

void InForce::publish(const param::Store& store, const Registry& registry, Effect effect) {
  const std::lock_guard guard(mutex_);
  store_ = &store;
  registry_ = &registry;
  effect_ = effect;
  starting_ = false;
  published_.fetch_add(1, std::memory_order_release);
}

void InForce::withdraw() {
  const std::lock_guard guard(mutex_);
  store_ = nullptr;
  registry_ = nullptr;
  starting_ = false;
  const std::lock_guard of_program_guard(of_program_mutex_);
  of_program_.clear();
}

InForce::Written InForce::write(std::string_view key, std::string_view text, param::Store& store, unsigned seen) {
  const std::lock_guard guard(mutex_);
  if (starting_ || published() != seen) return Written::kNotNow;
  if (!store.set(key, text, kOrigin).ok()) return Written::kRefused;
  if (store_ != nullptr) {
    if (!effect_(key, store)) return Written::kNever;
    note_of_program(key, store.find(key));
  }
  keep(key, text);
  return Written::kDone;
}

void InForce::keep(std::string_view key, std::string_view text) {
  const auto at = std::find_if(kept_.begin(), kept_.end(), [&](const auto& entry) { return entry.first == key; });
  if (at != kept_.end())
    at->second = text;
  else
    kept_.emplace_back(key, text);
}

std::string InForce::kept(std::string_view key, std::string_view otherwise) const {
  const std::lock_guard guard(mutex_);
  for (const auto& [name, text] : kept_)
    if (name == key) return text;
  return std::string(otherwise);
}

void InForce::apply(param::Store* store, const Registry& registry) {
  const std::lock_guard guard(mutex_);
  starting_ = true;
  if (kept_.empty()) return;
  store->declare(param::kernel_tables());
  registry.declare_params();
  for (const auto& [key, text] : kept_) {
    // The value was good when the program set it; a site's lock is of the job's parameters, and wins.
    if (const Status set = store->set(key, text, kOrigin); !set.ok())
      store->notice(set.text());
    else
      note_of_program(key, store->find(key));
  }
}

void InForce::note_of_program(std::string_view key, const param::Setting* setting) {
  if (setting == nullptr) return;
  const std::lock_guard guard(of_program_mutex_);
  of_program_.insert_or_assign(std::string(key), setting->text);
}

// Never destroyed: tools may ask until the process is gone.
InForce& in_force() {
  static InForce& made = *new InForce;
  return made;
}

}  // namespace ashlar::plugin
