#include "framework/plugin/component.h"

#include <cstdio>
#include <iterator>

#include "components/rma/shm/delegate.h"
#include "components/rma/shm/params.h"
#include "components/rma/shm/state.h"
#include "framework/plugin/pvar_row.h"
#include "framework/plugin/rma_interface.h"

namespace ashlar::rma::shm {
namespace {

constexpr std::int32_t kPriority = 50;

constexpr Component kComponent = {.name = "shm",
                                  .prepare = prepare,
                                  .joins = joins,
                                  .make_sync = make_sync,
                                  .share = nullptr,
                                  .reach = reach,
                                  .attached = publish_regions,
                                  .listen = nullptr,
                                  .close = close};

// What the kernel gave to open(): constant from then on. The table's functions get no context.
constinit const Config* the_config = nullptr;
constinit const ashlar_host* the_host = nullptr;

constexpr ashlar_pvar_row kRows[] = {
    plugin::pvar("offered", "pieces of one-sided operations that were offered to their targets (rma.shm.delegate_from)",
                 ASHLAR_PVAR_COUNTER, offsetof(DelegateCounters, offered)),
    plugin::pvar("carried_out", "such pieces of others that this process has carried out", ASHLAR_PVAR_COUNTER,
                 offsetof(DelegateCounters, carried_out)),
};

ashlar_result open(const ashlar_host* host, const void* config) {
  the_config = static_cast<const Config*>(config);
  the_host = host;
  host->add_pvar_block("rma", "shm", kRows, std::size(kRows), &delegate_counters());
  return ASHLAR_OK;
}

void close_component() { the_host->remove_pvar_block(kRows, &delegate_counters()); }

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason, "processes of one node: memory that they map, and copies");
}

ashlar_result create(const void*, void** module) {
  *module = const_cast<Component*>(&kComponent);
  return ASHLAR_OK;
}

void destroy(void*) {}

}  // namespace

std::uint64_t delegate_from() { return the_config->delegate_from; }
std::uint64_t slow_copy_ns() { return the_config->slow_copy; }

LockLimits lock_limits() {
  const auto bias = static_cast<std::uint32_t>(the_config->lock_bias);
  return {.again = static_cast<std::uint32_t>(the_config->lock_again),
          .bias_after = bias == 0 ? LockLimits::kNever : bias};
}

DelegateCounters& delegate_counters() {
  static DelegateCounters counters;
  return counters;
}

bool wants_central(const RmaWindow& window) {
  if (the_config->barrier == kByCores) return window.lane().config.oversubscribed;
  return the_config->barrier == kCentral;
}

void*& window_state(RmaWindow& window) {
  std::size_t i = 0;
  while (window.components[i] != &kComponent) ++i;
  return window.states[i];
}

}  // namespace ashlar::rma::shm

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = "rma",
    .name = "shm",
    .version = "1.0.0",
    .description = "one-sided communication of processes of one node, in memory that they share",
    .interface_version = ASHLAR_RMA_CXX_INTERFACE,
    .config_size = sizeof(ashlar::rma::shm::Config),
    .param_count = std::size(ashlar::rma::shm::kParams),
    .params = ashlar::rma::shm::kParams,
    .build_id = ASHLAR_BUILD_ID,
    .open = ashlar::rma::shm::open,
    .query = ashlar::rma::shm::query,
    .create = ashlar::rma::shm::create,
    .destroy = ashlar::rma::shm::destroy,
    .close = ashlar::rma::shm::close_component};
