#include "framework/comm/context.h"

#include <mpi.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "framework/base/lane_lock.h"
#include "framework/coll/api.h"
#include "framework/comm/group_exchange.h"
#include "framework/datatype/datatype.h"
#include "framework/datatype/reduce_op.h"
#include "framework/object/comm.h"
#include "framework/object/handle.h"

namespace ashlar::comm {
namespace {

constinit std::mutex mutex;
std::int64_t next_id = ContextIds::kFirst;
// Ids above next_id that an agreement took while a smaller one was still open. Empty unless threads are on.
std::set<std::int64_t>& taken_ahead() {
  static std::set<std::int64_t> ids;
  return ids;
}
constexpr std::int64_t kLimit = 0xfffffffe;

/// One reduction over whatever set of processes takes part: `values` become the largest (or, negated, smallest) ones.
template <class MaxOver>
Status agree_with(MaxOver&& max_over, std::uint32_t* context) {
  std::int64_t floor = 0;
  for (;;) {
    const ContextIds::Proposal mine = ContextIds::propose();
    std::int64_t values[2] = {std::max(mine.next, floor), mine.threads};
    ASHLAR_TRY(max_over(values, 2));
    if (values[0] > kLimit) return Status::fail(MPI_ERR_OTHER, "2^31 communicators were made; no context id is left");
    std::int64_t refused = ContextIds::claim(values[0]) ? 0 : 1;
    if (values[1] != 0) ASHLAR_TRY(max_over(&refused, 1));
    if (refused == 0) {
      *context = static_cast<std::uint32_t>(values[0]);
      return {};
    }
    floor = values[0] + 2;
  }
}

}  // namespace

ContextIds::Proposal ContextIds::propose() {
  const std::lock_guard guard(mutex);
  std::int64_t id = next_id;
  if (!taken_ahead().empty()) id = std::max(id, *taken_ahead().rbegin() + 2);
  return {id, LaneLock::threads_on() ? 1 : 0};
}

bool ContextIds::claim(std::int64_t id) {
  const std::lock_guard guard(mutex);
  if (id < next_id || taken_ahead().contains(id)) return false;
  if (!LaneLock::threads_on()) {
    next_id = id + 2;
    return true;
  }
  taken_ahead().insert(id);
  while (taken_ahead().erase(next_id) > 0) next_id += 2;
  // Gaps below an id that is in use are never proposed again, so the set need not remember more than its top.
  while (taken_ahead().size() > 64) {
    next_id = *taken_ahead().begin() + 2;
    taken_ahead().erase(taken_ahead().begin());
  }
  return true;
}

Status agree(Comm& comm, std::uint32_t* context) {
  Datatype& type = *resolve(MPI_INT64_T);
  ReduceOp& max = *resolve(MPI_MAX);
  return agree_with(
      [&](std::int64_t* values, int n) { return coll::allreduce(MPI_IN_PLACE, values, n, type, max, comm); }, context);
}

Status agree(Comm& comm, Group& group, int tag, std::uint32_t* context) {
  return agree_with([&](std::int64_t* values, int n) { return group_max(comm, group, tag, values, n); }, context);
}

}  // namespace ashlar::comm
