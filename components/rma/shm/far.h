#pragma once
#include <cstdint>

#include "framework/rma/apply.h"
#include "framework/rma/way.h"

namespace ashlar::rma::shm {

enum class Direction : std::uint8_t { kPut, kGet };

/// Copies between the origin's layout and the target's, which lies at `window` of process `pid`: all but the first
/// `done` packed bytes. Returns 0 or an errno.
int copy_far(Direction direction, std::int32_t pid, std::uint64_t window, const DataView& origin, const Place& place,
             std::size_t done);

/// Memory of another process.
class ProcessMemory final : public FarMemory {
 public:
  ProcessMemory(std::int32_t pid, std::uint64_t window_begins) : FarMemory(window_begins), pid_(pid) {}
  int read(void* to, std::span<const iovec> runs) override;
  int write(const void* from, std::span<const iovec> runs) override;

 private:
  const std::int32_t pid_;
};

}  // namespace ashlar::rma::shm
