// Memory that this process cannot map, but that the kernel copies for it: of MPI_Win_create over memory that is none of
// MPI_Alloc_mem. Nothing needs the target.
#include <mpi.h>

#include <cstring>

#include "components/rma/shm/delegate.h"
#include "components/rma/shm/far.h"
#include "components/rma/shm/state.h"
#include "framework/base/failure.h"

namespace ashlar::rma::shm {
namespace {

Status not_copied(const RmaWindow& window, const Target& target, int error) {
  return fail(MPI_ERR_OTHER, "rma.not_copied",
              {{"peer", target.rank}, {"window", window.label()}, {"lower", std::strerror(error)}});
}

/// Where the window begins at the target.
std::uint64_t window_address(const RmaWindow& window, const Target& target) {
  return window.areas[target.rank].address;
}

/// All but the first `done` packed bytes.
Status copy(Direction direction, const Access& access, std::size_t done) {
  const std::uint64_t window = window_address(access.window, access.target);
  int error = 0;
  if (done != 0 || !share_copy(direction, access, window, &error))
    error = copy_far(direction, owner_of(access.target).pid, window, access.origin, access.place, done);
  return error == 0 ? Status() : not_copied(access.window, access.target, error);
}
Status put_copied(const Access& access) { return copy(Direction::kPut, access, delegate_put(access)); }
Status get_copied(const Access& access) { return copy(Direction::kGet, access, delegate_get(access)); }

Status update_copied(const Update& update) {
  const std::size_t first = delegate_update(update);
  if (first == static_cast<std::size_t>(update.place.count) * static_cast<std::size_t>(update.place.type->size()))
    return {};
  ProcessMemory memory(owner_of(update.target).pid, window_address(update.window, update.target));
  int error = 0;
  const Status done = apply_far(update.window.sync->guard(update.target.rank), memory, update, first, &error);
  return error == 0 ? done : not_copied(update.window, update.target, error);
}

}  // namespace

const Way copied = {.name = "copied", .put = put_copied, .get = get_copied, .update = update_copied, .flush = nullptr};

}  // namespace ashlar::rma::shm
