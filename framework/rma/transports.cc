#include "framework/rma/transports.h"

#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/progress/peer.h"
#include "framework/rma/window.h"

namespace ashlar::rma {

Status transport_to(RmaWindow& window, Rank rank, TransportWay* out) {
  Lane& lane = window.lane();
  lane.lock.held_by_caller();
  Peer* const peer = progress::peer_of(*window.comm, rank);
  if (peer == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the record of a peer"}, {"peer", rank}});
  Link* link = nullptr;
  ASHLAR_TRY(progress::connect(lane, *peer, &link));
  out->endpoint = link->endpoint;
  out->iface = link->iface;
  for (unsigned i = 0; i < lane.iface_count; ++i)
    if (lane.ifaces[i] == link->iface) out->transport = lane.iface_names[i];
  return {};
}

}  // namespace ashlar::rma
