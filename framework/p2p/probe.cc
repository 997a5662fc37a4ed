#include <cstdio>

#include "framework/object/status_fields.h"
#include "framework/p2p/api.h"
#include "framework/p2p/state.h"
#include "framework/plugin/account.h"
#include "framework/progress/waiting.h"

namespace ashlar::p2p {
namespace {

const Arrival* look(LaneState& state, const match::Key& wanted) {
  return static_cast<const Arrival*>(state.unexpected.find(wanted));
}

void report(const Arrival& arrival, MPI_Status* status) {
  fill_status(status, arrival.key.source(), arrival.key.tag, bytes_announced(arrival.am));
}

struct Probing {
  const Comm& comm;
  Rank source;
  Tag tag;
  PeerId peer;
};

void tell_probe(const void* what, Lane&, plugin::AccountWriter& account) {
  const auto& probing = *static_cast<const Probing*>(what);
  char source[32] = "any rank";
  char tag[32] = "any tag";
  char text[200];
  if (probing.source != MPI_ANY_SOURCE) std::snprintf(source, sizeof source, "rank %d", probing.source);
  if (probing.tag != MPI_ANY_TAG) std::snprintf(tag, sizeof tag, "tag %d", probing.tag);
  std::snprintf(text, sizeof text, "in MPI_Probe for a message from %s %s on '%s'", source, tag,
                probing.comm.name.c_str());
  account.waits_for(probing.source == MPI_ANY_SOURCE ? plugin::kAnyPeer : probing.peer, text);
}

}  // namespace

Status probe(int source, int tag, Comm& comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return {};
  }
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  LaneState& state = *lane.p2p;
  const match::Key wanted{match::Key::place(comm.context, source), tag};
  const Arrival* found = nullptr;
  const PeerId peer = source == MPI_ANY_SOURCE ? lane.peers.self() : (*comm.remote_group)[source];
  const Peer* const sender = lane.peers.find(peer);
  bool gone = false;
  const Probing probing{comm, source, tag, peer};
  const auto here = [&] {
    found = look(state, wanted);
    gone = sender != nullptr && sender->failed.load(std::memory_order_relaxed);
    return found != nullptr || gone;
  };
  progress::wait(lane, here, {tell_probe, &probing});
  if (found == nullptr) {
    return Status::fail(MPI_ERR_PROC_ABORTED, "MPI_Probe: rank %d of '%s' is gone: %s", source, comm.name.c_str(),
                        lane.peers.failure_reason(peer).c_str());
  }
  report(*found, status);
  return {};
}

Status iprobe(int source, int tag, Comm& comm, int* flag, MPI_Status* status) {
  *flag = 1;
  if (source == MPI_PROC_NULL) {
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return {};
  }
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  LaneState& state = *lane.p2p;
  const match::Key wanted{match::Key::place(comm.context, source), tag};
  const Arrival* found = look(state, wanted);
  if (found == nullptr) {
    progress::poll(lane);
    found = look(state, wanted);
  }
  *flag = found != nullptr;
  if (found != nullptr) report(*found, status);
  return {};
}

}  // namespace ashlar::p2p
