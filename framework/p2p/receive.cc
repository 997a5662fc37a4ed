#include "framework/object/status_fields.h"
#include "framework/p2p/api.h"
#include "framework/p2p/collective.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/reason.h"
#include "framework/p2p/receiving.h"
#include "framework/p2p/send_now.h"
#include "framework/p2p/sending.h"
#include "framework/progress/waiting.h"

namespace ashlar::p2p {
namespace {

/// A receive that is on its way or complete; nullptr: no memory.
template <auto kBegin = begin>
inline RecvRequest* start(Lane& lane, Comm& comm, const DataView& data, Rank source, Tag tag, Procedure call)
    ASHLAR_REQUIRES(lane.lock) {
  LaneState& state = *lane.p2p;
  RecvRequest* const r = state.receives.take(comm, call, data, data.bytes());
  if (r == nullptr) [[unlikely]]
    return nullptr;
  r->key = {match::Key::place(comm.context, source), tag};
  kBegin(lane, state, *r);
  return r;
}

inline Status finish_blocking(Lane& lane, RecvRequest& r, MPI_Status* status) ASHLAR_REQUIRES(lane.lock) {
  progress::wait(
      lane, [&r] { return r.complete(); }, because_of(r));
  const Status outcome = r.outcome;
  fill_status(status, r.source, r.tag, r.bytes);
  lane.p2p->receives.put(&r);
  return outcome;
}

inline Status receive(Lane& lane, void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm,
                      MPI_Status* status) ASHLAR_REQUIRES(lane.lock) {
  RecvRequest* const r = start(lane, comm, {buf, count, &type}, source, tag, Procedure::kRecv);
  if (r == nullptr) [[unlikely]]
    return no_request(lane.p2p->receives);
  return finish_blocking(lane, *r, status);
}

[[gnu::noinline]] Status receive_under_lock(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm,
                                            MPI_Status* status) {
  const LaneGuard guard(comm.lane->lock);
  return receive(*comm.lane, buf, count, type, source, tag, comm, status);
}

}  // namespace

// Without threads and without tools there is no lock to take, as in send().
Status recv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm,
            MPI_Status* status) ASHLAR_NO_THREAD_SAFETY {
  if (source == MPI_PROC_NULL) [[unlikely]] {
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return {};
  }
  if (!LaneLock::plain()) [[unlikely]]
    return receive_under_lock(buf, count, type, source, tag, comm, status);
  return receive(*comm.lane, buf, count, type, source, tag, comm, status);
}

Status irecv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, Request** request) {
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  if (source == MPI_PROC_NULL) [[unlikely]] {
    *request = lane.p2p->nothing_received;
    return {};
  }
  RecvRequest* const r = start<begin_nonblocking>(lane, comm, {buf, count, &type}, source, tag, Procedure::kIrecv);
  if (r == nullptr) [[unlikely]]
    return no_request(lane.p2p->receives);
  r->share_objects();
  *request = r;
  return {};
}

Status sendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag, void* recvbuf,
                MPI_Count recvcount, Datatype& recvtype, int source, int recvtag, Comm& comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
  }
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  RecvRequest* const r = start(lane, comm, {recvbuf, recvcount, &recvtype}, source, recvtag, Procedure::kSendrecv);
  if (r == nullptr) return no_request(lane.p2p->receives);
  Gate sending;
  Status sent;
  if (dest != MPI_PROC_NULL && !send_now(lane, comm, comm.context, sendbuf, sendcount, sendtype, dest, sendtag))
      [[unlikely]] {
    sent = start_send_on_gate(lane,
                              {.comm = comm,
                               .data = DataView::of(sendbuf, sendcount, sendtype),
                               .to = dest,
                               .tag = sendtag,
                               .call = Procedure::kSendrecv},
                              sending);
  }
  if (sent.ok()) {
    progress::wait(
        lane, [&sending] { return sending.open(); }, because_of(sending));
    sent = sending.status();
  } else if (r->active() && r->filed()) {
    // The receive must not stay behind in the caller's buffer; when it is matched it completes.
    static_cast<void>(kRecvOps.cancel(*r));
  }
  const Status received = finish_blocking(lane, *r, status);
  return sent.ok() ? received : sent;
}

Status start_receive_on_gate(Lane& lane, Comm& comm, const DataView& data, Rank from, Tag tag, Procedure call,
                             Gate& gate) {
  if (from == MPI_PROC_NULL) return {};
  LaneState& state = *lane.p2p;
  RecvRequest* const r = state.receives.take(comm, call, data, data.bytes());
  if (r == nullptr) return no_request(lane.p2p->receives);
  r->key = {match::Key::place(comm.context, from), tag};
  gate.add();
  r->gate = &gate;
  begin_nonblocking(lane, state, *r);
  return {};
}

Status post_recv(Comm& comm, const DataView& data, Rank from, Tag tag, Gate& gate,
                 CallSignature called) ASHLAR_NO_THREAD_SAFETY {
  Lane& lane = *comm.lane;
  if (from == MPI_PROC_NULL) return {};
  LaneState& state = *lane.p2p;
  RecvRequest* const r = state.receives.take(comm, Procedure::kCollective, data, data.bytes());
  if (r == nullptr) return no_request(lane.p2p->receives);
  r->collective = true;
  r->set_called(called);
  r->key = {match::Key::place(comm.context + 1, from), tag};
  begin(lane, state, *r);
  if (r->active()) [[likely]] {
    gate.add();
    r->gate = &gate;
    return {};
  }
  const Status outcome = r->outcome;
  state.receives.put(r);
  if (!outcome.ok()) [[unlikely]] {
    // The gate reports a wrong message when all that goes with it is over, whether or not the message was here first.
    gate.add();
    gate.arrive(outcome);
  }
  return {};
}

}  // namespace ashlar::p2p
