#include <cstdio>
#include <iterator>
#include <new>

#include "components/rma/am/params.h"
#include "components/rma/am/sync.h"
#include "components/rma/am/ways.h"
#include "components/rma/am/window.h"
#include "framework/base/failure.h"
#include "framework/plugin/component.h"
#include "framework/plugin/pvar_row.h"
#include "framework/plugin/rma_interface.h"
#include "framework/rma/component.h"

namespace ashlar::rma::am {
namespace {

constexpr std::int32_t kPriority = 10;  // serves everything; more special components come first

constexpr ashlar_pvar_row kRows[] = {
    plugin::pvar("operations", "one-sided operations that were sent to their targets as messages", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, operations)),
    plugin::pvar("fragments", "messages of these", ASHLAR_PVAR_COUNTER, offsetof(Counters, fragments)),
    plugin::pvar("fragment_bytes", "bytes of data that these moved, or asked for", ASHLAR_PVAR_AGGREGATE,
                 offsetof(Counters, fragment_bytes)),
    plugin::pvar("served", "such messages of others that this process has executed", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, served)),
    plugin::pvar("answers", "answers that this process has given to others", ASHLAR_PVAR_COUNTER,
                 offsetof(Counters, answers)),
    plugin::pvar("stalls", "times a target had to answer before more could be sent to it (rma.am.credits)",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, stalls)),
    plugin::pvar("full", "calls that had to wait until fewer operations were kept for a target (rma.am.queue_limit)",
                 ASHLAR_PVAR_COUNTER, offsetof(Counters, full)),
    plugin::pvar("queued",
                 "operations that are kept until their targets have answered (rma.am.queue_limit, of each target)",
                 ASHLAR_PVAR_LEVEL, offsetof(Counters, queued)),
};

/// What the kernel gave to open(): constant from then on. The table's functions get no context.
struct Module {
  const ashlar_host* host = nullptr;
  const Config* config = nullptr;
};
constinit Module module;

/// The window's messages begin. Under the lane's lock.
Status listen(RmaWindow& window) {
  if (window.wire != nullptr) return {};
  auto state = std::unique_ptr<AmWindow>(new (std::nothrow) AmWindow(window, *module.config));
  if (state == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the messages of a window"}});
  const Counters* const counters = &state->counters;
  ASHLAR_TRY(WindowWire::attach(window, std::move(state)));
  module.host->add_pvar_block("rma", "am", kRows, std::size(kRows), counters);
  return {};
}

Status joins(RmaWindow&, std::span<const Card>) { return {}; }

Status make_sync(RmaWindow& window, std::span<const Card>, Sync** out) {
  const LaneGuard guard(window.lane().lock);
  ASHLAR_TRY(listen(window));
  AmWindow& state = AmWindow::of(window);
  state.sync.reset(new (std::nothrow) MessageSync(state));
  *out = state.sync.get();
  if (*out == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the synchronization of a window"}});
  return {};
}

Status reach(RmaWindow& window, Target& target) {
  ASHLAR_TRY(listen(window));
  if (target.copies == nullptr) target.copies = &asked;
  if (target.updates == nullptr) target.updates = &asked;
  return {};
}

void close(RmaWindow& window) {
  if (window.wire == nullptr) return;
  module.host->remove_pvar_block(kRows, &AmWindow::of(window).counters);
  window.wire.reset();
}

constexpr Component kTable = {.name = "am",
                              .prepare = nullptr,
                              .joins = joins,
                              .make_sync = make_sync,
                              .share = nullptr,
                              .reach = reach,
                              .attached = nullptr,
                              .listen = listen,
                              .close = close};

ashlar_result open(const ashlar_host* host, const void* config) {
  module = {.host = host, .config = static_cast<const Config*>(config)};
  host->add_pvar_block("rma", "am", kRows, std::size(kRows), nullptr);  // they are known before there is a window
  return ASHLAR_OK;
}

void query(const void*, ashlar_answer* answer) {
  answer->priority = kPriority;
  std::snprintf(answer->reason, sizeof answer->reason, "messages, which targets answer: between any processes");
}

ashlar_result create(const void*, void** made) {
  *made = const_cast<Component*>(&kTable);
  return ASHLAR_OK;
}

void destroy(void*) {}

}  // namespace
}  // namespace ashlar::rma::am

extern "C" ASHLAR_EXPORT const ashlar_component ashlar_component_v1;
const ashlar_component ashlar_component_v1 = {.size = sizeof(ashlar_component),
                                              .abi_major = ASHLAR_COMPONENT_MAJOR,
                                              .abi_minor = ASHLAR_COMPONENT_MINOR,
                                              .framework = "rma",
                                              .name = "am",
                                              .version = "1.0.0",
                                              .description = "one-sided communication by messages",
                                              .interface_version = ASHLAR_RMA_CXX_INTERFACE,
                                              .config_size = sizeof(ashlar::rma::am::Config),
                                              .param_count = std::size(ashlar::rma::am::kParams),
                                              .params = ashlar::rma::am::kParams,
                                              .build_id = ASHLAR_BUILD_ID,
                                              .open = ashlar::rma::am::open,
                                              .query = ashlar::rma::am::query,
                                              .create = ashlar::rma::am::create,
                                              .destroy = ashlar::rma::am::destroy,
                                              .close = nullptr};
