#include "framework/coll/api.h"
#include "framework/comm/api.h"
#include "framework/comm/engine.h"
#include "framework/comm/outside.h"
#include "framework/object/comm.h"
#include "framework/p2p/reason.h"
#include "framework/p2p/setup.h"
#include "framework/progress/waiting.h"

namespace ashlar::comm {
namespace {

/// Waits until nothing that this process began on `comm` is under way, also what the user has no request for any more.
void settle(Comm& comm) {
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  // The analysis does not see into a lambda: progress::wait() calls it with the lock held.
  const auto settled = [&]() ASHLAR_NO_THREAD_SAFETY { return !p2p::busy(comm) && !coll::busy(comm); };
  const p2p::Leaving leaving{"MPI_Comm_disconnect", &comm};
  progress::wait(lane, settled, p2p::because_of(leaving));
}

}  // namespace

Status disconnect(Comm** comm) {
  if ((*comm)->predefined != 0) return free(comm);  // which says why not
  settle(**comm);
  if ((*comm)->local_comm) settle(*(*comm)->local_comm);
  // With processes of other jobs it may be the end of the connection: what one has sent, the others have taken in. A
  // process that has ended meanwhile is no failure of those that part from it.
  if (spans_jobs(**comm)) (void)coll::barrier(**comm).ok();
  return free(comm);
}

Status get_parent(Comm** parent) {
  *parent = Engine::current().parent;
  return {};
}

}  // namespace ashlar::comm
