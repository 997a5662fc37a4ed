#include "framework/runtime/life.h"

#include <mpi.h>

#include "framework/base/failure.h"

namespace ashlar::runtime {

constinit Life life;

Status Life::check_can_begin(int thread_level) const {
  if (world() == World::kOn) return fail(MPI_ERR_OTHER, "call.initialised");
  if (world() == World::kOver) return fail(MPI_ERR_OTHER, "call.init_after_finalize");
  if (thread_level == MPI_THREAD_SINGLE || thread_level == MPI_THREAD_FUNNELED ||
      thread_level == MPI_THREAD_SERIALIZED || thread_level == MPI_THREAD_MULTIPLE)
    return {};
  return fail(MPI_ERR_ARG, "argument.value",
              {{"argument", "required"}, {"value", thread_level}, {"wanted", "one of the MPI_THREAD_ levels"}});
}

Status Life::check_on() const {
  if (world() == World::kOn) return {};
  return world() == World::kOver ? fail(MPI_ERR_OTHER, "call.after_finalize") : fail(MPI_ERR_OTHER, "call.before_init");
}

void Life::world_began(int thread_level) {
  thread_level_ = thread_level;
  world_.store(World::kOn);
}

}  // namespace ashlar::runtime
