#include "framework/runtime/tool_modules.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

#include "framework/base/catalogue.h"
#include "framework/param/sources.h"
#include "framework/plugin/pvars.h"
#include "framework/plugin/tool_memory.h"
#include "framework/plugin/tools.h"
#include "framework/runtime/process.h"
#include "framework/runtime/tool_facts.h"

namespace ashlar::runtime {
namespace {

using plugin::ToolMemory;

// Shared memory gives its pages back, so that the next process of this rank finds zeros as well.
void clear(ToolMemory* memory, std::uint64_t bytes) {
  if (memory->count.load() == 0) return;
  void* const at = memory;
  if (madvise(at, bytes, MADV_REMOVE) != 0) std::memset(at, 0, bytes);
}

}  // namespace

void ToolModules::warn(const catalogue::Message& message) {
  if (process_.job->rank != 0) return;  // the same in all ranks
  process_.reporter.notice(1, message.id, message.paragraph());
}

bool ToolModules::find_wrappers() {
  wrappers_ = static_cast<const ashlar_call_wrappers*>(dlsym(RTLD_DEFAULT, ASHLAR_CALL_WRAPPERS_SYMBOL));
  if (wrappers_) return true;
  warn(catalogue::message("tool.no_wrappers", {{"file", plugin::wrappers_file(param::installation_prefix())}}));
  return false;
}

// The launcher's, which outlives this process, or that of the ranks among themselves.
void ToolModules::take_memory(std::size_t tools) {
  const ashlar_job& job = *process_.job;
  if (job.tool_memory) {
    memory_ = static_cast<ToolMemory*>(job.tool_memory);
    memory_bytes_ = job.tool_bytes;
    clear(memory_, memory_bytes_);
    return;
  }
  const Status shared = board_->attach(job, process_.launch, buffer_bytes_);
  if (!board_->own()) {
    warn(catalogue::message("tool.no_memory", {{"bytes", buffer_bytes_}, {"tools", tools}}));
    return;
  }
  if (!shared.ok()) {
    const catalogue::Message message =
        catalogue::message("tool.not_shared", {{"rank", job.rank}, {"lower", plugin::own_words(shared)}});
    process_.reporter.notice(1, message.id, message.paragraph());
  } else if (job.nodes > 1) {
    warn(catalogue::message("tool.one_node", {{"host", process_.host_of_rank(job.rank)}, {"count", job.nodes}}));
  }
  memory_ = board_->own();
  memory_bytes_ = board_->bytes();
}

ashlar_tool_context ToolModules::context() const {
  const ashlar_job& job = *process_.job;
  return {.size = sizeof(ashlar_tool_context),
          .role = ASHLAR_TOOL_IN_RANK,
          .rank = job.rank,
          .ranks = job.ranks,
          .job_id = job.job_id,
          .host = process_.host_of_rank(job.rank),
          .procedures = wrappers_->procedures,
          .procedure_count = wrappers_->procedure_count,
          .procedure_bytes = sizeof(ashlar_tool_procedure),
          .buffer = nullptr,
          .buffer_bytes = 0,
          .clock = tool_facts::both_clocks,
          .variable = tool_facts::variable,
          .comm_name = tool_facts::comm_name,
          .variables = tool_facts::each_variable,
          .decisions = tool_facts::each_decision,
          .event_types = event_types_.rows().data(),
          .event_type_count = static_cast<std::uint32_t>(event_types_.rows().size()),
          .event_type_bytes = sizeof(ashlar_tool_event_type)};
}

bool ToolModules::make(const plugin::Chosen& chosen, std::size_t index, std::size_t tools) {
  auto of_tool = std::make_unique<ashlar_tool_context>(context());
  const std::uint64_t share = plugin::tool_share(memory_bytes_, tools);
  if (share > 0) {
    ToolMemory::Row& row = memory_->rows[index];
    std::snprintf(row.name, sizeof row.name, "%s", chosen.component->name());
    row.offset = plugin::kToolPage + index * share;
    row.bytes = share;
    of_tool->buffer = reinterpret_cast<std::byte*>(memory_) + row.offset;
    of_tool->buffer_bytes = share;
    row.sampled = share;
    memory_->count.store(static_cast<std::uint32_t>(index + 1), std::memory_order_release);
  }
  ashlar_tool* module = nullptr;
  if (const Status made = chosen.component->create(of_tool.get(), &module); !made.ok()) {
    warn(catalogue::message("tool.not_made",
                            {{"component", chosen.component->prefix()}, {"lower", plugin::own_words(made)}}));
    return false;
  }
  const ashlar_tool_ops& ops = *module->ops;
  if (share > 0 && ops.size > offsetof(ashlar_tool_ops, sampled) && ops.sampled)
    memory_->rows[index].sampled = std::min(ops.sampled(module), share);
  modules_.push_back({chosen.component, module, std::move(of_tool)});
  return true;
}

void ToolModules::enter(void* self, const ashlar_tool_call* call) {
  const ToolModules& t = *static_cast<ToolModules*>(self);
  t.each_listener(t.hooks_.wanted[call->number], [&](const Listener& l) { l.enter(l.tool, call); });
}

void ToolModules::leave(void* self, const ashlar_tool_call* call) {
  const ToolModules& t = *static_cast<ToolModules*>(self);
  t.each_listener(t.hooks_.wanted[call->number], [&](const Listener& l) { l.leave(l.tool, call); });
}

// What is wanted is wanted by the only tool: nothing needs to stand between the wrappers and its functions, which take
// a pointer in any case.
void ToolModules::connect_directly() {
  hooks_.self = listeners_[0].tool;
  hooks_.enter = reinterpret_cast<void (*)(void*, const ashlar_tool_call*)>(listeners_[0].enter);
  hooks_.leave = reinterpret_cast<void (*)(void*, const ashlar_tool_call*)>(listeners_[0].leave);
}

void ToolModules::ask() {
  wanted_.assign(wrappers_->procedure_count, 0);
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    const ashlar_tool_ops& ops = *modules_[i].tool->ops;
    constexpr auto kNothing = [](ashlar_tool*, const ashlar_tool_call*) {};
    listeners_[i] = {.tool = modules_[i].tool,
                     .enter = ops.enter ? ops.enter : +kNothing,
                     .leave = ops.leave ? ops.leave : +kNothing,
                     .event = ops.event};
    for (std::uint32_t p = 0; p < wrappers_->procedure_count; ++p)
      if (!ops.wants || ops.wants(modules_[i].tool, p)) wanted_[p] |= static_cast<std::uint8_t>(1u << i);
  }
}

std::unique_ptr<ToolModules> ToolModules::prepare(Process& process, std::uint64_t buffer_bytes) {
  if (!plugin::tools_chosen(process.params)) return nullptr;
  std::unique_ptr<ToolModules> tools(new ToolModules(process, plugin::kToolPage + buffer_bytes));
  tools->board_->offer(*process.job, process.launch, tools->buffer_bytes_);
  return tools;
}

bool ToolModules::open() {
  if (!find_wrappers()) return false;
  std::vector<plugin::Chosen> chosen;
  const ashlar_tool_context selecting = context();
  if (const Status selected = process_.registry.select("tool", &selecting, &chosen); !selected.ok()) {
    warn(catalogue::message("tool.none", {{"lower", selected.text()}}));
    return false;
  }
  if (chosen.size() > plugin::kMostTools) {
    warn(catalogue::message("tool.too_many", {{"count", chosen.size()}, {"most", plugin::kMostTools}}));
    chosen.resize(plugin::kMostTools);
  }
  take_memory(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) (void)make(chosen[i], i, chosen.size());
  if (modules_.empty()) return false;
  ask();
  hooks_ = {.size = sizeof(ashlar_call_hooks),
            .procedure_count = wrappers_->procedure_count,
            .wanted = wanted_.data(),
            .self = this,
            .enter = enter,
            .leave = leave,
            .describe = tool_facts::describe,
            .type_bytes = tool_facts::type_bytes,
            .status_bytes = tool_facts::status_bytes};
  if (modules_.size() == 1) connect_directly();
  ask_for_events();
  wrappers_->attach(&hooks_);
  plugin::pvar_sets().add("tools", pvar_rows, this);
  return true;
}

const ashlar_pvar_row ToolModules::kRows[] = {plugin::computed_pvar(
    "buffer", "bytes in which tools record, all of them together (tools.buffer)", ASHLAR_PVAR_SIZE,
    [](const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
      values[0] = static_cast<const ToolModules*>(block)->memory_bytes_;
    })};
const std::span<const ashlar_pvar_row> ToolModules::pvar_rows = ToolModules::kRows;

void ToolModules::leave_alone() {
  if (wrappers_) wrappers_->attach(nullptr);
  stop_events();
}

ToolModules::~ToolModules() {
  leave_alone();
  plugin::pvar_sets().remove(pvar_rows.data(), this);
  for (const Module& m : modules_) m.component->destroy(m.tool);
  if (memory_) {
    std::snprintf(memory_->program, sizeof memory_->program, "%s", program_invocation_short_name);
    memory_->finished.store(1, std::memory_order_release);
  }
  if (board_->leave()) tell_end();
}

}  // namespace ashlar::runtime
