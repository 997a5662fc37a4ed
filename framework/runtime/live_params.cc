// Values that tools write while the process runs: the rows that are not frozen.
#include "framework/base/log.h"
#include "framework/coll/engine.h"
#include "framework/coll/params.h"
#include "framework/object/limit.h"
#include "framework/object/params.h"
#include "framework/p2p/params.h"
#include "framework/p2p/setup.h"
#include "framework/plugin/params.h"
#include "framework/progress/params.h"
#include "framework/runtime/process.h"

namespace ashlar {
namespace {

// The store holds what the process has read, and values that were held against their rows since: nothing can fail.
template <class Config>
Config read(param::Store& store, std::string_view prefix, std::span<const ashlar_param> rows, Config config) {
  (void)store.fill(prefix, rows, &config).ok();
  return config;
}

}  // namespace

void Process::take_effect(std::string_view key, param::Store& store) {
  Process* const process = current();
  if (process == nullptr) return;
  if (key == "log") {
    const auto kernel = read(store, "", plugin::kKernelParams, plugin::KernelConfig{});
    log::set_level(static_cast<log::Level>(kernel.log_level));
  }
  if (key.starts_with("object.")) {
    const auto objects = read(store, "object", object::kParams, object::Config{});
    object::limit.store(static_cast<std::size_t>(objects.limit), std::memory_order_relaxed);
  }
  for (const auto& lane : process->lanes_) {
    const LaneGuard guard(lane->lock);
    if (key.starts_with("progress.")) lane->config = read(store, "progress", progress::kParams, lane->config);
    if (key.starts_with("p2p.")) p2p::configure(*lane, read(store, "p2p", p2p::kParams, process->p2p_config_));
    if (key.starts_with("coll.") && process->coll)
      coll::Engine::configure(*lane, read(store, "coll", coll::kParams, process->coll->config));
  }
}

}  // namespace ashlar
