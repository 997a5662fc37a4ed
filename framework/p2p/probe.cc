#include "framework/p2p/api.h"
#include "framework/p2p/probing.h"
#include "framework/progress/waiting.h"

namespace ashlar::p2p {

Arrival* look_twice(Lane& lane, const Comm& comm, int source, int tag) {
  if (Arrival* const found = look(lane, comm, source, tag)) return found;
  progress::poll(lane);
  return look(lane, comm, source, tag);
}

Status await_message(Lane& lane, Comm& comm, int source, int tag, const char* call, Arrival** found) {
  const PeerId peer = source == MPI_ANY_SOURCE ? lane.peers.self() : (*comm.remote_group)[source];
  const Peer* const sender = lane.peers.find(peer);
  bool gone = false;
  progress::wait(lane, [&]() ASHLAR_NO_THREAD_SAFETY {
    *found = look(lane, comm, source, tag);
    gone = sender != nullptr && sender->failed.load(std::memory_order_relaxed);
    return *found != nullptr || gone;
  });
  if (*found != nullptr) return {};
  return Status::fail(MPI_ERR_PROC_ABORTED, "%s: rank %d of '%s' is gone: %s", call, source, comm.name.c_str(),
                      lane.peers.failure_reason(peer).c_str());
}

Status probe(int source, int tag, Comm& comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return {};
  }
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  Arrival* found = nullptr;
  ASHLAR_TRY(await_message(lane, comm, source, tag, "MPI_Probe", &found));
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
  const Arrival* const found = look_twice(lane, comm, source, tag);
  *flag = found != nullptr;
  if (found != nullptr) report(*found, status);
  return {};
}

}  // namespace ashlar::p2p
