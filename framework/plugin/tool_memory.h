#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// A rank's memory for tools: a page that says whose is what, then one buffer for each tool. Written by the rank; read
/// when the job is over, also when the rank was killed in the middle: by mpiexec (ashlar_job::tool_memory), or under
/// other launchers by the rank that leaves last (framework/runtime/tool_board.h).
namespace ashlar::plugin {

inline constexpr std::uint32_t kMostTools = 8;
inline constexpr std::uint64_t kToolPage = 4096;

struct ToolMemory {
  struct Row {
    char name[64];
    std::uint64_t offset, bytes;  // of the buffer, from the start of this struct
    std::uint64_t sampled;        // of these, what samples read
  };
  std::atomic<std::uint32_t> count;     // rows that are complete
  std::atomic<std::uint32_t> finished;  // 1: the rank's tools have ended as they should
  Row rows[kMostTools];
  char program[128];  // the rank's
};
static_assert(sizeof(ToolMemory) <= kToolPage);

/// A rank's buffer of one tool, as far as what the rank wrote can be believed; nullptr: it has none. `bytes`: of the
/// memory.
inline const ToolMemory::Row* tool_row(const ToolMemory& memory, std::uint64_t bytes, const char* tool) {
  const std::uint32_t count = std::min(memory.count.load(std::memory_order_acquire), kMostTools);
  for (std::uint32_t i = 0; i < count; ++i) {
    const ToolMemory::Row& row = memory.rows[i];
    if (std::strncmp(row.name, tool, sizeof row.name) != 0) continue;
    return row.offset <= bytes && row.bytes <= bytes - row.offset ? &row : nullptr;
  }
  return nullptr;
}

/// What each of `tools` tools gets of `bytes` bytes; 0: there is no room.
inline std::uint64_t tool_share(std::uint64_t bytes, std::size_t tools) {
  return bytes > kToolPage && tools > 0 ? (bytes - kToolPage) / tools / 64 * 64 : 0;
}

}  // namespace ashlar::plugin
