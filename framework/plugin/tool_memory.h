#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

/// A rank's memory for tools (ashlar_job::tool_memory): a page that says whose is what, then one buffer for each tool.
/// Written by the rank; read by mpiexec when the job is over, also when the rank was killed in the middle.
namespace ashlar::plugin {

inline constexpr std::uint32_t kMostTools = 8;
inline constexpr std::uint64_t kToolPage = 4096;

struct ToolMemory {
  struct Row {
    char name[64];
    std::uint64_t offset, bytes;  // of the buffer, from the start of this struct
  };
  std::atomic<std::uint32_t> count;  // rows that are complete
  Row rows[kMostTools];
};
static_assert(sizeof(ToolMemory) <= kToolPage);

/// What each of `tools` tools gets of `bytes` bytes; 0: there is no room.
inline std::uint64_t tool_share(std::uint64_t bytes, std::size_t tools) {
  return bytes > kToolPage && tools > 0 ? (bytes - kToolPage) / tools / 64 * 64 : 0;
}

}  // namespace ashlar::plugin
