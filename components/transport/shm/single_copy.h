#pragma once
#include <cstddef>
#include <cstdint>

namespace ashlar::shm {

/// Copies [remote, remote + length) of process `pid` to `to`. Returns 0 or an errno.
int read_from(std::int32_t pid, void* to, std::uint64_t remote, std::size_t length);
/// Copies `from` to [remote, remote + length) of process `pid`. Returns 0 or an errno.
int write_to(std::int32_t pid, const void* from, std::uint64_t remote, std::size_t length);

/// Under Yama's ptrace_scope 1, lets the processes that `yama` (a Yama value of config.h) names copy from this one.
void open_to_peers(std::int32_t yama);

}  // namespace ashlar::shm
