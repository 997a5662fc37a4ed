#include "framework/runtime/life.h"

#include <mpi.h>

namespace ashlar::runtime {

constinit Life life;

Status Life::check_can_begin(int thread_level) const {
  if (world() == World::kOn) return Status::fail(MPI_ERR_OTHER, "MPI is initialised already");
  if (world() == World::kOver)
    return Status::fail(MPI_ERR_OTHER, "MPI was finalised and cannot be initialised again in the world model");
  if (thread_level == MPI_THREAD_SINGLE || thread_level == MPI_THREAD_FUNNELED ||
      thread_level == MPI_THREAD_SERIALIZED || thread_level == MPI_THREAD_MULTIPLE)
    return {};
  return Status::fail(MPI_ERR_ARG, "argument required is %d, which is none of the MPI_THREAD_ levels", thread_level);
}

Status Life::check_on() const {
  if (world() == World::kOn) return {};
  return Status::fail(MPI_ERR_OTHER, world() == World::kOver ? "MPI is finalised already" : "MPI is not initialised");
}

void Life::world_began(int thread_level) {
  thread_level_ = thread_level;
  world_.store(World::kOn);
}

}  // namespace ashlar::runtime
