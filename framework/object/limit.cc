#include "framework/object/limit.h"

#include <mpi.h>

#include "framework/base/failure.h"

namespace ashlar::object {

constinit std::atomic<std::size_t> limit{16777216};

Status none_left(const char* what, const Counter& level) {
  const std::size_t most = limit.load(std::memory_order_relaxed);
  if (level.get() < most) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", what}});
  return fail(MPI_ERR_NO_MEM, "object.limit", {{"what", what}, {"count", level.get()}});
}

}  // namespace ashlar::object
