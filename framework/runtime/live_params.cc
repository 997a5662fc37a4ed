// Values that tools write while the process runs: the rows that are not frozen.
#include "framework/base/log.h"
#include "framework/coll/engine.h"
#include "framework/coll/params.h"
#include "framework/io/engine.h"
#include "framework/object/limit.h"
#include "framework/object/params.h"
#include "framework/p2p/params.h"
#include "framework/p2p/setup.h"
#include "framework/plugin/params.h"
#include "framework/progress/params.h"
#include "framework/rma/engine.h"
#include "framework/runtime/live_values.h"
#include "framework/runtime/process.h"
#include "framework/runtime/threads.h"

namespace ashlar {
namespace {

// The store holds what the process has read, and values that were held against their rows since: nothing can fail.
template <class Config>
Config read(param::Store& store, std::string_view prefix, std::span<const ashlar_param> rows, Config config) {
  (void)store.fill(prefix, rows, &config).ok();
  return config;
}

}  // namespace

bool Process::take_effect(std::string_view key, param::Store& store) {
  Process* const process = current();
  if (process == nullptr) return true;
  const std::string_view room = key.substr(0, key.find('.'));
  runtime::LiveValues of_lanes;
  if (room == "log") {
    const auto kernel = read(store, "", plugin::kKernelParams, plugin::KernelConfig{});
    log::set_level(static_cast<log::Level>(kernel.log_level));
  } else if (room == "object") {
    const auto objects = read(store, "object", object::kParams, object::Config{});
    object::limit.store(static_cast<std::size_t>(objects.limit), std::memory_order_relaxed);
  } else if (room == "io") {
    process->io_engine_->config.set(read(store, "io", io::kParams, process->io_config_));
  } else if (room == "rma") {
    process->rma_engine_->config.set(read(store, "rma", rma::kParams, process->rma_config_));
  } else if (room == "progress") {
    of_lanes.progress = read(store, "progress", progress::kParams, process->progress_config_);
  } else if (room == "p2p") {
    of_lanes.p2p = read(store, "p2p", p2p::kParams, process->p2p_config_);
  } else if (room == "coll") {
    of_lanes.coll = read(store, "coll", coll::kParams, process->coll->config);
  } else {
    return room == "tools";  // where the tools interface itself looks at them
  }
  // Without threads no lock keeps a tool's thread away from the one that is inside MPI (MPI_T_init_thread gives tools
  // MPI_THREAD_MULTIPLE, whatever the program has requested of MPI_Init_thread).
  if (runtime::may_enter_lanes())
    process->apply(of_lanes);
  else
    process->leave_for_lanes(of_lanes);
  return true;
}

void Process::apply(const runtime::LiveValues& values) {
  for (const auto& lane : lanes_) {
    const LaneGuard guard(lane->lock);
    apply_to(*lane, values);
  }
}

void Process::apply_to(Lane& lane, const runtime::LiveValues& values) ASHLAR_NO_THREAD_SAFETY {
  if (values.progress) {
    lane.config = *values.progress;
    lane.contention = {};  // what was found by other limits is found anew: no wait sleeps for an interval of before
  }
  if (values.p2p) p2p::configure(lane, *values.p2p);
  if (values.coll) coll::Engine::configure(lane, *values.coll);
}

void Process::leave_for_lanes(const runtime::LiveValues& values) {
  {
    const std::lock_guard guard(left_mutex_);
    if (values.progress) left_->progress = values.progress;
    if (values.p2p) left_->p2p = values.p2p;
    if (values.coll) left_->coll = values.coll;
    is_left_.store(true, std::memory_order_release);
  }
  // The lanes look at this word, which others change as well.
  __atomic_fetch_add(const_cast<std::uint32_t*>(peers_->news()), 1, __ATOMIC_RELEASE);
}

void Process::take_left_values() {
  if (!is_left_.load(std::memory_order_acquire)) return;
  runtime::LiveValues values;
  {
    const std::lock_guard guard(left_mutex_);
    std::swap(values, *left_);
    is_left_.store(false, std::memory_order_relaxed);
  }
  // Without threads, and otherwise nothing is left here, the lane's lock is none.
  for (const auto& lane : lanes_) apply_to(*lane, values);
}

}  // namespace ashlar
