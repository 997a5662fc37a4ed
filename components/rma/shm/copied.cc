// Memory that this process cannot map, but that the kernel copies for it: of MPI_Win_create over memory that is none of
// MPI_Alloc_mem. Nothing needs the target.
#include <mpi.h>

#include <cstring>

#include "components/rma/shm/delegate.h"
#include "components/rma/shm/far.h"
#include "components/rma/shm/short_puts.h"
#include "components/rma/shm/state.h"
#include "framework/base/failure.h"

namespace ashlar::rma::shm {
namespace {

Status not_copied(const RmaWindow& window, Rank target, int error) {
  return fail(MPI_ERR_OTHER, "rma.not_copied",
              {{"peer", target}, {"window", window.label()}, {"lower", std::strerror(error)}});
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
  return error == 0 ? Status() : not_copied(access.window, access.target.rank, error);
}
Status put_copied(const Access& access) {
  if (!post_put(access)) return copy(Direction::kPut, access, delegate_put(access));
  access.target.outstanding = access.window.any_outstanding = true;
  return {};
}
Status get_copied(const Access& access) { return copy(Direction::kGet, access, delegate_get(access)); }

Status update_copied(const Update& update) {
  const std::size_t first = delegate_update(update);
  if (first == static_cast<std::size_t>(update.place.count) * static_cast<std::size_t>(update.place.type->size()))
    return {};
  ProcessMemory memory(owner_of(update.target).pid, window_address(update.window, update.target));
  int error = 0;
  const Status done = apply_far(update.window.sync->guard(update.target.rank), memory, update, first, &error);
  return error == 0 ? done : not_copied(update.window, update.target.rank, error);
}

/// Only short puts are not complete when their calls return, and their origins may be changed by then.
Status flush_copied(RmaWindow& window, Target& target, bool remote) {
  const ShortPuts::Failure failed = remote ? complete_puts(window, target.rank) : ShortPuts::Failure();
  return failed.error == 0 ? Status() : not_copied(window, failed.rank, failed.error);
}

}  // namespace

const Way copied = {
    .name = "copied", .put = put_copied, .get = get_copied, .update = update_copied, .flush = flush_copied};

}  // namespace ashlar::rma::shm
