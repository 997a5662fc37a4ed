#include "framework/runtime/tool_modules.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "framework/base/catalogue.h"
#include "framework/base/clock.h"
#include "framework/datatype/datatype.h"
#include "framework/object/comm.h"
#include "framework/object/handle.h"
#include "framework/object/status_fields.h"
#include "framework/param/sources.h"
#include "framework/plugin/params.h"
#include "framework/plugin/pvars.h"
#include "framework/plugin/tool_memory.h"
#include "framework/plugin/tools.h"
#include "framework/runtime/process.h"

namespace ashlar::runtime {
namespace {

using plugin::ToolMemory;

template <class Call>
void each_of(unsigned mask, Call call) {
  for (; mask != 0; mask &= mask - 1) call(static_cast<std::size_t>(std::countr_zero(mask)));
}

// The process of a rank of the group that the call names, when it is one.
std::int32_t in_job(const Comm& comm, int rank) {
  if (rank < 0 || rank >= comm.remote_size) return ASHLAR_TOOL_NONE;
  return static_cast<std::int32_t>((*comm.remote_group)[rank]);
}

int describe(const void* handle, ashlar_tool_call* call) {
  const Comm* const comm = detail::resolve_as<Comm>(handle, Kind::kComm);
  if (!comm) return 0;
  call->object = comm;
  call->comm = comm->context / 2 + 1;  // contexts are even, and 0 is MPI_COMM_WORLD's
  call->comm_rank = comm->rank;
  call->comm_size = comm->remote_size;
  call->to_world = in_job(*comm, call->to);
  call->from_world = in_job(*comm, call->from);
  return comm->inter ? comm->size : 0;
}

std::uint64_t type_bytes(const void* handle) {
  const Datatype* const type = detail::resolve_as<Datatype>(handle, Kind::kDatatype);
  return type ? static_cast<std::uint64_t>(type->size()) : 0;
}

std::uint64_t status_bytes(const void* status) {
  return static_cast<std::uint64_t>(bytes_of(*static_cast<const MPI_Status*>(status)));
}

void both_clocks(ashlar_tool_clock* now) { *now = {.ticks = ticks(), .ns = now_ns()}; }

std::uint32_t comm_name(const ashlar_tool_call* call, char* out, std::uint32_t room) {
  const auto* const comm = static_cast<const Comm*>(call->object);
  if (!comm) return 0;
  if (room > 0) std::snprintf(out, room, "%s", comm->name.c_str());
  return static_cast<std::uint32_t>(std::strlen(comm->name.c_str()));
}

int variable(const char* name, std::uint64_t* value) {
  const std::string_view wanted = name;
  int found = 0;
  plugin::pvar_sets().each_from(0, [&](const plugin::PvarSet& set) {
    const std::string_view prefix = set.prefix();
    if (!wanted.starts_with(prefix) || wanted.size() <= prefix.size() || wanted[prefix.size()] != '.') return;
    const std::span<const ashlar_pvar_row> rows = set.rows();
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      if (rows[row].bind != ASHLAR_PVAR_OF_PROCESS || wanted.substr(prefix.size() + 1) != rows[row].name) continue;
      // Of a second life of its owner, both count.
      std::uint64_t part = 0;
      set.read(row, nullptr, &part, 1);
      *value = found ? *value + part : part;
      found = 1;
    }
  });
  return found;
}

void each_variable(void (*take)(void*, const ashlar_tool_variable*), void* self) {
  std::string name;
  plugin::pvar_sets().each_from(0, [&](const plugin::PvarSet& set) {
    const std::span<const ashlar_pvar_row> rows = set.rows();
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      if (rows[row].bind != ASHLAR_PVAR_OF_PROCESS) continue;
      name.assign(set.prefix()).append(".").append(rows[row].name);
      ashlar_tool_variable variable{.name = name.c_str(), .help = rows[row].help, .kind = rows[row].kind, .value = 0};
      set.read(row, nullptr, &variable.value, 1);
      take(self, &variable);
    }
  });
}

void each_decision(void (*take)(void*, const ashlar_decision*), void* self) {
  Process* const process = Process::current();
  if (!process) return;
  for (const plugin::Decision& d : process->registry.records().of("")) {
    const ashlar_decision decision{.size = sizeof decision,
                                   .topic = d.topic.c_str(),
                                   .subject = d.subject.c_str(),
                                   .chosen = d.chosen.c_str(),
                                   .because = d.because.c_str(),
                                   .lost = d.lost.c_str(),
                                   .setting = d.setting.c_str()};
    take(self, &decision);
  }
}

// Shared memory gives its pages back, so that the next process of this rank finds zeros as well.
void clear(void* memory, std::uint64_t bytes) {
  if (static_cast<ToolMemory*>(memory)->count.load() == 0) return;
  if (madvise(memory, bytes, MADV_REMOVE) != 0) std::memset(memory, 0, bytes);
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

// The launcher's, which outlives this process, or some of our own.
void ToolModules::take_memory(std::size_t tools, std::uint64_t buffer_bytes) {
  const ashlar_job& job = *process_.job;
  if (job.tool_memory) {
    memory_ = job.tool_memory;
    memory_bytes_ = job.tool_bytes;
    clear(memory_, memory_bytes_);
    return;
  }
  memory_bytes_ = plugin::kToolPage + buffer_bytes;
  void* const at =
      mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    memory_bytes_ = 0;
    warn(catalogue::message("tool.no_memory", {{"bytes", buffer_bytes}, {"tools", tools}}));
    return;
  }
  memory_ = at;
  own_memory_ = true;
}

ashlar_tool_context ToolModules::context() const {
  const ashlar_job& job = *process_.job;
  return {.size = sizeof(ashlar_tool_context),
          .role = ASHLAR_TOOL_IN_RANK,
          .rank = job.rank,
          .ranks = job.ranks,
          .job_id = job.job_id,
          .host = process_.host_of(job.rank),
          .procedures = wrappers_->procedures,
          .procedure_count = wrappers_->procedure_count,
          .procedure_bytes = sizeof(ashlar_tool_procedure),
          .buffer = nullptr,
          .buffer_bytes = 0,
          .clock = both_clocks,
          .variable = variable,
          .comm_name = comm_name,
          .variables = each_variable,
          .decisions = each_decision};
}

bool ToolModules::make(const plugin::Chosen& chosen, std::size_t index, std::size_t tools) {
  auto of_tool = std::make_unique<ashlar_tool_context>(context());
  const std::uint64_t share = plugin::tool_share(memory_bytes_, tools);
  if (share > 0) {
    auto* const head = static_cast<ToolMemory*>(memory_);
    ToolMemory::Row& row = head->rows[index];
    std::snprintf(row.name, sizeof row.name, "%s", chosen.component->name());
    row.offset = plugin::kToolPage + index * share;
    row.bytes = share;
    of_tool->buffer = static_cast<std::byte*>(memory_) + row.offset;
    of_tool->buffer_bytes = share;
    head->count.store(static_cast<std::uint32_t>(index + 1), std::memory_order_release);
  }
  ashlar_tool* module = nullptr;
  if (const Status made = chosen.component->create(of_tool.get(), &module); !made.ok()) {
    warn(catalogue::message("tool.not_made",
                            {{"component", chosen.component->prefix()}, {"lower", plugin::own_words(made)}}));
    return false;
  }
  modules_.push_back({chosen.component, module, std::move(of_tool)});
  return true;
}

void ToolModules::enter(void* self, const ashlar_tool_call* call) {
  const ToolModules& t = *static_cast<ToolModules*>(self);
  each_of(t.hooks_.wanted[call->number], [&](std::size_t i) { t.listeners_[i].enter(t.listeners_[i].tool, call); });
}

void ToolModules::leave(void* self, const ashlar_tool_call* call) {
  const ToolModules& t = *static_cast<ToolModules*>(self);
  each_of(t.hooks_.wanted[call->number], [&](std::size_t i) { t.listeners_[i].leave(t.listeners_[i].tool, call); });
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
                     .leave = ops.leave ? ops.leave : +kNothing};
    for (std::uint32_t p = 0; p < wrappers_->procedure_count; ++p)
      if (!ops.wants || ops.wants(modules_[i].tool, p)) wanted_[p] |= static_cast<std::uint8_t>(1u << i);
  }
}

std::unique_ptr<ToolModules> ToolModules::open(Process& process, std::uint64_t buffer_bytes) {
  if (!plugin::tools_chosen(process.params)) return nullptr;
  std::unique_ptr<ToolModules> tools(new ToolModules(process));
  if (!tools->find_wrappers()) return nullptr;
  std::vector<plugin::Chosen> chosen;
  const ashlar_tool_context context = tools->context();
  if (const Status selected = process.registry.select("tool", &context, &chosen); !selected.ok()) {
    tools->warn(catalogue::message("tool.none", {{"lower", selected.text()}}));
    return nullptr;
  }
  if (chosen.size() > plugin::kMostTools) {
    tools->warn(catalogue::message("tool.too_many", {{"count", chosen.size()}, {"most", plugin::kMostTools}}));
    chosen.resize(plugin::kMostTools);
  }
  tools->take_memory(chosen.size(), buffer_bytes);
  tools->began_ns_ = now_ns();
  for (std::size_t i = 0; i < chosen.size(); ++i) (void)tools->make(chosen[i], i, chosen.size());
  if (tools->modules_.empty()) return nullptr;
  tools->ask();
  tools->hooks_ = {.size = sizeof(ashlar_call_hooks),
                   .procedure_count = tools->wrappers_->procedure_count,
                   .wanted = tools->wanted_.data(),
                   .self = tools.get(),
                   .enter = enter,
                   .leave = leave,
                   .describe = describe,
                   .type_bytes = type_bytes,
                   .status_bytes = status_bytes};
  if (tools->modules_.size() == 1) tools->connect_directly();
  tools->wrappers_->attach(&tools->hooks_);
  return tools;
}

// A job of this one process without a launcher that would tell it.
void ToolModules::tell_end() {
  if (!own_memory_ || process_.job->ranks != 1) return;
  for (const Module& m : modules_) {
    if (!m.tool->ops->job_end) continue;
    const ashlar_tool_rank rank{.buffer = m.context->buffer,
                                .buffer_bytes = m.context->buffer_bytes,
                                .exit_status = 0,
                                .finalized = 1,
                                .host = m.context->host,
                                .program = program_invocation_short_name};
    const ashlar_tool_job job{.size = sizeof job,
                              .ranks = 1,
                              .rank = &rank,
                              .rank_bytes = sizeof rank,
                              .exit_status = 0,
                              .began_ns = began_ns_,
                              .ended_ns = now_ns(),
                              .job_id = m.context->job_id};
    m.tool->ops->job_end(m.tool, &job);
  }
}

void ToolModules::leave_alone() { wrappers_->attach(nullptr); }

ToolModules::~ToolModules() {
  if (wrappers_) wrappers_->attach(nullptr);
  tell_end();
  for (const Module& m : modules_) m.component->destroy(m.tool);
  if (own_memory_) munmap(memory_, memory_bytes_);
}

}  // namespace ashlar::runtime
