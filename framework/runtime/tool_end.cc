// The end of a job without a launcher that lets the tools read what they recorded: its last rank does.
#include <vector>

#include "framework/base/clock.h"
#include "framework/runtime/process.h"
#include "framework/runtime/tool_modules.h"

namespace ashlar::runtime {
namespace {

/// Index among the ranks of this node; past its last one when the rank is elsewhere.
std::uint32_t local_index(const ashlar_job& job, std::uint32_t rank) {
  if (!job.local_peers) return rank;
  std::uint32_t i = 0;
  while (i < job.local_size && job.local_peers[i] != rank) ++i;
  return i;
}

}  // namespace

std::vector<ashlar_tool_rank> ToolModules::ranks_of(const char* tool) const {
  const ashlar_job& job = *process_.job;
  std::vector<ashlar_tool_rank> ranks;
  for (std::uint32_t r = 0; r < job.ranks; ++r) {
    ashlar_tool_rank& rank = ranks.emplace_back(ashlar_tool_rank{.buffer = nullptr,
                                                                 .buffer_bytes = 0,
                                                                 .exit_status = 0,
                                                                 .finalized = 0,
                                                                 .host = process_.host_of_rank(r),
                                                                 .program = "",
                                                                 .running = 0,
                                                                 .clock = {}});
    const plugin::ToolMemory* const memory = board_->of(local_index(job, r));
    if (!memory) continue;
    rank.finalized = memory->finished.load(std::memory_order_acquire) != 0;
    rank.program = memory->program;
    if (const plugin::ToolMemory::Row* const row = plugin::tool_row(*memory, board_->bytes(), tool)) {
      rank.buffer = reinterpret_cast<const std::byte*>(memory) + row->offset;
      rank.buffer_bytes = row->bytes;
    }
  }
  return ranks;
}

void ToolModules::tell_end() {
  ashlar_tool_context at_end = context();
  at_end.role = ASHLAR_TOOL_AT_END;
  at_end.procedures = nullptr;
  at_end.procedure_count = 0;
  at_end.clock = nullptr;
  at_end.variable = nullptr;
  at_end.comm_name = nullptr;
  at_end.variables = nullptr;
  at_end.decisions = nullptr;
  at_end.event_types = nullptr;
  at_end.event_type_count = 0;
  for (const Module& m : modules_) {
    ashlar_tool* tool = nullptr;
    if (!m.component->create(&at_end, &tool).ok()) continue;  // it was made once, and has told why if it was not
    const std::vector<ashlar_tool_rank> ranks = ranks_of(m.component->name());
    const ashlar_tool_job job{.size = sizeof job,
                              .ranks = static_cast<std::uint32_t>(ranks.size()),
                              .rank = ranks.data(),
                              .rank_bytes = sizeof(ashlar_tool_rank),
                              .exit_status = 0,
                              .began_ns = board_->began_ns(),
                              .ended_ns = now_ns(),
                              .job_id = at_end.job_id};
    if (tool->ops->job_end) tool->ops->job_end(tool, &job);
    m.component->destroy(tool);
  }
}

}  // namespace ashlar::runtime
