#include <cstdio>

#include "framework/base/failure.h"
#include "framework/p2p/api.h"
#include "framework/p2p/probing.h"
#include "framework/plugin/account.h"
#include "framework/progress/waiting.h"

namespace ashlar::p2p {
namespace {

struct Probing {
  const Comm& comm;
  Rank source;
  Tag tag;
  PeerId peer;
  const char* call;
};

void tell_probe(const void* what, Lane&, plugin::AccountWriter& account) {
  const auto& probing = *static_cast<const Probing*>(what);
  char source[32] = "any rank";
  char tag[32] = "any tag";
  char text[200];
  if (probing.source != MPI_ANY_SOURCE) std::snprintf(source, sizeof source, "rank %d", probing.source);
  if (probing.tag != MPI_ANY_TAG) std::snprintf(tag, sizeof tag, "tag %d", probing.tag);
  std::snprintf(text, sizeof text, "in %s for a message from %s %s on '%s'", probing.call, source, tag,
                probing.comm.name.c_str());
  account.waits_for(probing.source == MPI_ANY_SOURCE ? plugin::kAnyPeer : probing.peer, text);
}

}  // namespace

Arrival* look_twice(Lane& lane, const Comm& comm, int source, int tag) {
  if (Arrival* const found = look(lane, comm, source, tag)) return found;
  if (lane.p2p->native != nullptr) lane.p2p->native->look_for_messages();
  progress::look(lane);
  return look(lane, comm, source, tag);
}

Status await_message(Lane& lane, Comm& comm, int source, int tag, const char* call, Arrival** found) {
  const PeerId peer = source == MPI_ANY_SOURCE ? lane.peers.self() : (*comm.remote_group)[source];
  const Peer* const sender = lane.peers.find(peer);
  bool gone = false;
  const Probing probing{.comm = comm, .source = source, .tag = tag, .peer = peer, .call = call};
  const auto here = [&]() ASHLAR_NO_THREAD_SAFETY {
    *found = look(lane, comm, source, tag);
    gone = sender != nullptr && sender->failed.load(std::memory_order_relaxed);
    return *found != nullptr || gone;
  };
  NativeMatching* const native = lane.p2p->native.get();
  if (native != nullptr) native->begin_probe();
  progress::wait(lane, here, {tell_probe, &probing});
  if (native != nullptr) native->end_probe();
  if (*found != nullptr) return {};
  return fail(MPI_ERR_PROC_ABORTED, "peer.failed",
              {{"call", call},
               {"peer", source},
               {"communicator", comm.name},
               {"tag", tag},
               {"lower", lane.peers.failure_reason(peer)}});
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
