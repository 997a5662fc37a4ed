#include "framework/runtime/tool_facts.h"

#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "framework/base/clock.h"
#include "framework/datatype/datatype.h"
#include "framework/object/comm.h"
#include "framework/object/handle.h"
#include "framework/object/status_fields.h"
#include "framework/plugin/pvars.h"
#include "framework/runtime/process.h"

namespace ashlar::runtime::tool_facts {

// The process of a rank of the group that the call names, when it is one.
static std::int32_t in_job(const Comm& comm, int rank) {
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

void both_clocks(ashlar_tool_clock* now) {
  const Moment moment = moment_now();
  *now = {.ticks = moment.ticks, .ns = moment.ns};
}

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

}  // namespace ashlar::runtime::tool_facts
