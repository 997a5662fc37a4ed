#include <cstdio>

#include "framework/coll/api.h"
#include "framework/comm/api.h"
#include "framework/object/comm.h"
#include "framework/p2p/internal.h"
#include "framework/plugin/account.h"
#include "framework/progress/waiting.h"

namespace ashlar::comm {
namespace {

void tell(const void* what, Lane&, plugin::AccountWriter& account) {
  char text[160];
  std::snprintf(text, sizeof text, "in MPI_Comm_disconnect for the operations on '%s' that are under way",
                static_cast<const Comm*>(what)->name.c_str());
  account.waits_for(plugin::kNoPeer, text);
}

/// Waits until nothing that this process began on `comm` is under way, also what the user has no request for any more.
void settle(Comm& comm) {
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  const auto settled = [&]() ASHLAR_NO_THREAD_SAFETY { return !p2p::busy(comm) && !coll::busy(comm); };
  progress::wait(lane, settled, {tell, &comm});
}

}  // namespace

Status disconnect(Comm** comm) {
  if ((*comm)->predefined != 0) return free(comm);  // which says why not
  settle(**comm);
  if ((*comm)->local_comm) settle(*(*comm)->local_comm);
  return free(comm);
}

Status get_parent(Comm** parent) {
  // Processes are started by the launcher only: nobody has a parent.
  *parent = nullptr;
  return {};
}

}  // namespace ashlar::comm
