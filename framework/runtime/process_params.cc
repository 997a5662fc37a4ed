#include "framework/runtime/process.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "framework/memory/heap.h"
#include "framework/object/errhandler.h"
#include "framework/object/leaks.h"
#include "framework/object/limit.h"
#include "framework/object/params.h"
#include "framework/p2p/params.h"
#include "framework/plugin/in_force.h"
#include "framework/plugin/launch_board.h"
#include "framework/plugin/mpiexec_params.h"
#include "framework/plugin/params.h"
#include "framework/plugin/setup.h"
#include "framework/progress/params.h"
#include "framework/runtime/fork.h"
#include "framework/runtime/params.h"
#include "framework/runtime/threads.h"

// The values that this process uses, from all sources, and which of them the rooms take.
namespace ashlar {

Status Process::read_parameters() {
  const std::string prefix = param::installation_prefix();
  if (job->params) {
    ASHLAR_TRY(plugin::adopt(prefix, job->params, environ, &params, &registry));
  } else {
    // No launcher of ours read the files. A fault in them is reported, and the rest is in force.
    const Status read = plugin::configure(prefix, param::standard_sources(prefix), &params, &registry);
    reporter.problems(params);
    ASHLAR_TRY(read);
  }
  plugin::in_force().apply(&params, registry);
  ASHLAR_TRY(params.fill("runtime", runtime::kParams, &runtime_config_));
  ASHLAR_TRY(params.fill("threads", runtime::kThreadParams, &thread_config_));
  ASHLAR_TRY(params.fill("topo", topo::kParams, &topo_config_));
  ASHLAR_TRY(params.fill("rma", rma::kParams, &rma_config_));
  ASHLAR_TRY(params.fill("check", rma::kCheckParams, &rma_config_));
  ASHLAR_TRY(params.fill("io", io::kParams, &io_config_));
  ASHLAR_TRY(params.fill("check", io::kCheckParams, &io_config_));
  ASHLAR_TRY(params.fill("tools", plugin::kToolParams, &tool_config_));
  ASHLAR_TRY(params.fill("progress", progress::kParams, &progress_config_));
  if (rma_config_.progress == rma::kBackground && !progress_config_.thread)
    progress_config_.thread = progress_config_.dormant = true;
  ASHLAR_TRY(params.fill("p2p", p2p::kParams, &p2p_config_));
  ASHLAR_TRY(params.fill("check", p2p::kCheckParams, &p2p_config_));
  runtime::CheckConfig check;
  ASHLAR_TRY(params.fill("check", runtime::kCheckParams, &check));
  if (!check.leaks) leaks::stop_watching();
  check_hints_ = check.hints;
  origins_checked.store(check.sessions, std::memory_order_relaxed);
  runtime::watch_threads(thread_level, check.threads && !progress_config_.thread);
  progress_config_.oversubscribed = job->oversubscribed != 0;
  plugin::WatchConfig watch;
  ASHLAR_TRY(params.fill("watch", plugin::kWatchParams, &watch));
  status_.stall_ns = watch.stall;
  plugin::KernelConfig kernel;
  ASHLAR_TRY(params.fill("", plugin::kKernelParams, &kernel));
  explain_topics_ = kernel.explain;
  plugin::Config of_components;
  ASHLAR_TRY(params.fill("plugin", plugin::kParams, &of_components));
  registry.records().set_limit(static_cast<std::size_t>(of_components.records));
  heap_setup.processes = std::max(job->local_size, 1u);
  heap_setup.records = &registry.records();
  ASHLAR_TRY(params.fill("memory", memory::kParams, &heap_setup.config));
  heap_setup.apply(memory::Heap::own());
  object::Config objects;
  ASHLAR_TRY(params.fill("object", object::kParams, &objects));
  object::limit.store(static_cast<std::size_t>(objects.limit), std::memory_order_relaxed);
  params.freeze();
  Errhandler* const initial[] = {&errors_are_fatal(), &errors_abort(), &errors_return()};
  error_hooks.initial = initial[runtime_config_.initial_errhandler];
  if (progress_config_.thread) LaneLock::enable_threads();
  return {};
}

void Process::publish_adjustments() {
  if ((launch_capabilities_ & ASHLAR_LAUNCH_OBSERVABLE) == 0) return;
  params.on_adjusted([this, left = 32](const param::Store::Adjustment& adjustment) mutable {
    if (left-- <= 0 || runtime::forked()) return;
    const std::string text = adjustment.used + '\0' + adjustment.because;
    (void)launch->ops->put(launch, (launch::kAdjustedPrefix + adjustment.key).c_str(), text.data(), text.size());
  });
}

}  // namespace ashlar
