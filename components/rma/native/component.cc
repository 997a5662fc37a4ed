#include "framework/plugin/component.h"

#include <mpi.h>

#include <cstdio>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include "components/rma/native/state.h"
#include "framework/base/failure.h"
#include "framework/plugin/pvar_row.h"
#include "framework/plugin/rma_interface.h"

namespace ashlar::rma::native {
namespace {

constexpr std::int32_t kPriority = 30;  // behind memory that is mapped or copied by the system

constexpr ashlar_pvar_row kRows[] = {
    plugin::pvar("puts", "one-sided puts that went to a transport", ASHLAR_PVAR_COUNTER, offsetof(Counters, puts)),
    plugin::pvar("gets", "one-sided gets that went to a transport", ASHLAR_PVAR_COUNTER, offsetof(Counters, gets)),
    plugin::pvar("bytes", "bytes of these", ASHLAR_PVAR_AGGREGATE, offsetof(Counters, bytes)),
    plugin::pvar("atomics", "elements that a transport's atomic operations have updated", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, atomics)),
    plugin::pvar("asked", "updates that targets made, although their transport has atomic operations",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, asked)),
    plugin::pvar("flushes", "flushes that a transport was given", ASHLAR_PVAR_COUNTER, offsetof(Counters, flushes)),
    plugin::pvar("full", "calls that had to wait until fewer operations were under way (rma.native.queue_limit)",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, full)),
    plugin::pvar("under_way", "operations under way in transports (rma.native.queue_limit, of each window)",
                 ASHLAR_PVAR_LEVEL, offsetof(Counters, under_way)),
};

/// What the kernel gave to open(): constant from then on. The table's functions get no context.
struct Module {
  const ashlar_host* host = nullptr;
  const Config* config = nullptr;
};
constinit Module module;

// Windows without transports have no state, so they cost nothing here.
Status share(RmaWindow& window, Comm& comm, std::span<const Card> cards) {
  if (!wants_transports(window, *module.config, cards)) return {};
  std::unique_ptr<NativeWindow> state(new (std::nothrow) NativeWindow(window, *module.config));
  ASHLAR_TRY(exchange_keys(state.get(), comm));
  if (state == nullptr) return {};  // this process asks the targets
  guard_own(*state);
  module.host->add_pvar_block("rma", "native", kRows, std::size(kRows), &state->counters);
  window_state(window) = state.release();
  return {};
}

void close(RmaWindow& window) {
  auto* const state = static_cast<NativeWindow*>(std::exchange(window_state(window), nullptr));
  if (state == nullptr) return;
  {
    const LaneGuard guard(window.lane().lock);
    abandon(*state);
  }
  unexpose(*state);
  window.own_guard = nullptr;
  module.host->remove_pvar_block(kRows, &state->counters);
  delete state;
}

ashlar_result open(const ashlar_host* host, const void* config) {
  module = {.host = host, .config = static_cast<const Config*>(config)};
  host->add_pvar_block("rma", "native", kRows, std::size(kRows), nullptr);  // they are known before there is a window
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason, "puts, gets and atomic operations of transports");
}

ashlar_result create(const void*, void** made) {
  *made = const_cast<Component*>(&component);
  return ASHLAR_OK;
}

void destroy(void*) {}

}  // namespace

constinit const Component component = {.name = "native",
                                       .prepare = nullptr,
                                       .joins = nullptr,
                                       .make_sync = nullptr,
                                       .share = share,
                                       .reach = reach,
                                       .attached = nullptr,
                                       .listen = nullptr,
                                       .close = close};

void*& window_state(RmaWindow& window) {
  std::size_t i = 0;
  while (window.components[i] != &component) ++i;
  return window.states[i];
}

}  // namespace ashlar::rma::native

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = "rma",
    .name = "native",
    .version = "1.0.0",
    .description = "one-sided communication by the puts, gets and atomic operations of transports",
    .interface_version = ASHLAR_RMA_CXX_INTERFACE,
    .config_size = sizeof(ashlar::rma::native::Config),
    .param_count = std::size(ashlar::rma::native::kParams),
    .params = ashlar::rma::native::kParams,
    .build_id = ASHLAR_BUILD_ID,
    .open = ashlar::rma::native::open,
    .query = ashlar::rma::native::query,
    .create = ashlar::rma::native::create,
    .destroy = ashlar::rma::native::destroy,
    .close = nullptr};
