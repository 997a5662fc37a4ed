// The end of what connects this process to one of another job.
#include <mpi.h>

#include "framework/object/errhandler.h"
#include "framework/p2p/handlers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/setup.h"

namespace ashlar::p2p {

void say_goodbye(Lane& lane, PeerId id, bool waits) {
  Peer* const peer = lane.peers.find(id);
  if (peer == nullptr || peer->failed.load(std::memory_order_relaxed) || peer->told_goodbye.exchange(true)) return;
  Link* link = nullptr;
  // One that cannot be reached is not waiting for it.
  if (open_link(lane, id, &link).ok()) send_control(lane, *link, kGoodbye, 0, waits ? 0 : 1);
}

void on_goodbye(Lane& lane, const ashlar_am& am) {
  Peer* const peer = lane.peers.get(am.peer);
  if (peer == nullptr || am.h0 != 0) return;
  peer->said_goodbye.store(true, std::memory_order_release);
  // One that has forgotten this process would have to be connected to again to be told.
  if (am.h1 != 0) peer->told_goodbye.store(true, std::memory_order_relaxed);
  // The first that this process hears of it, maybe, while it leaves itself: it is waited for there.
  if (lane.p2p->process.leaves.load(std::memory_order_relaxed)) say_goodbye(lane, am.peer, true);
}

void watch(Lane& lane, PeerId id) {
  Peer* const peer = lane.peers.get(id);
  if (peer == nullptr || peer->failed.load(std::memory_order_relaxed) || peer->link(lane).endpoint != nullptr) return;
  Link* link = nullptr;
  const Status opened = open_link(lane, id, &link);
  if (opened.mpi_class() == MPI_ERR_PROC_ABORTED) lane.peers.mark_failed(id, opened.text());
  // A network connects when something is to be sent.
  if (opened.ok()) send_control(lane, *link, kGoodbye, 1, 0);
}

void say_end(Lane& lane, PeerId id, int code) {
  Link* link = nullptr;
  if (open_link(lane, id, &link).ok()) send_control(lane, *link, kEnd, static_cast<std::uint64_t>(code), 0);
}

void on_end(Lane&, const ashlar_am& am) {
  if (error_hooks.abort != nullptr)
    error_hooks.abort(nullptr, static_cast<int>(am.h0),
                      "a process of another job has ended all processes of a communicator that it had with this one");
}

bool done_with(Lane& lane, PeerId id) {
  Peer* const peer = lane.peers.find(id);
  if (peer == nullptr) return true;
  const Link& link = peer->link(lane);
  return !link.stalled() && link.pending.empty() && link.bulk.empty() && link.active.empty();
}

void drop_links(Lane& lane, PeerId id) {
  for (unsigned i = 0; i < lane.iface_count; ++i) {
    ashlar_iface* const iface = lane.ifaces[i];
    if (iface->ops->forget != nullptr) iface->ops->forget(iface, id);
  }
  Peer* const peer = lane.peers.find(id);
  if (peer == nullptr) return;
  Link& link = peer->link(lane);
  link.budget = 0;
  link.endpoint = nullptr;
}

}  // namespace ashlar::p2p
