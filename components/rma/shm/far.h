#pragma once
#include <cstdint>

#include "framework/rma/apply.h"
#include "framework/rma/way.h"

namespace ashlar::rma::shm {

enum class Direction : std::uint8_t { kPut, kGet };

/// Copies between the origin's layout and the target's, which lies at `window` of process `pid`. Returns 0 or an errno.
int copy_far(Direction direction, std::int32_t pid, std::uint64_t window, const DataView& origin, const Place& place);

/// Memory of another process.
class ProcessMemory final : public FarMemory {
 public:
  ProcessMemory(std::int32_t pid, std::uint64_t window) : pid_(pid), window_(window) {}
  int read(void* to, MPI_Aint offset, std::size_t bytes) override;
  int write(const void* from, MPI_Aint offset, std::size_t bytes) override;

 private:
  const std::int32_t pid_;
  const std::uint64_t window_;
};

}  // namespace ashlar::rma::shm
