#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>

namespace ashlar {

using Rank = int;  // position in a communicator's group
using Tag = int;
using Bytes = std::size_t;
/// Number of a process in this process's table: the ranks of its own job's MPI_COMM_WORLD first, then processes of
/// other jobs in the order in which they became known. Never given to another process again.
using PeerId = std::uint32_t;
inline constexpr PeerId kNobody = 0xffffffff;

/// Who a process is, the same for every process that knows it: its job, and its rank there.
struct Identity {
  std::uint64_t job[2] = {0, 0};
  std::uint32_t rank = 0;

  bool same_job(const Identity& other) const { return job[0] == other.job[0] && job[1] == other.job[1]; }
  auto operator<=>(const Identity&) const = default;
};

inline constexpr std::size_t kCacheLine = 64;

}  // namespace ashlar
