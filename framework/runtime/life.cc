#include "framework/runtime/life.h"

#include <mpi.h>

#include "framework/base/failure.h"

namespace ashlar::runtime {

constinit Life life;

namespace {

constexpr const char* kStages[] = {"MPI_Init has not returned", "in use", "finalized", nullptr};
constexpr ashlar_pvar_row kLifeRows[] = {[] {
  ashlar_pvar_row row = plugin::computed_pvar(
      "stage", "where this process is between MPI_Init and MPI_Finalize; sessions do not count", ASHLAR_PVAR_STATE,
      [](const ashlar_pvar_row*, const void* block, const void*, std::uint64_t* values, std::uint32_t) {
        values[0] = static_cast<std::uint64_t>(static_cast<const Life*>(block)->world());
      },
      ASHLAR_USER_BASIC);
  row.choices = kStages;
  return row;
}()};

}  // namespace

const std::span<const ashlar_pvar_row> life_rows = kLifeRows;

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
