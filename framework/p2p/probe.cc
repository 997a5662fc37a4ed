#include "framework/object/status_fields.h"
#include "framework/p2p/api.h"
#include "framework/p2p/state.h"
#include "framework/progress/waiting.h"

namespace ashlar::p2p {
namespace {

const Arrival* look(LaneState& state, const match::Key& wanted) {
  return static_cast<const Arrival*>(state.unexpected.find(wanted));
}

void report(const Arrival& arrival, MPI_Status* status) {
  fill_status(status, arrival.key.source(), arrival.key.tag, bytes_announced(arrival.am));
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
  progress::wait(lane, [&] {
    found = look(state, wanted);
    gone = sender != nullptr && sender->failed.load(std::memory_order_relaxed);
    return found != nullptr || gone;
  });
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
