#include "framework/p2p/api.h"
#include "framework/p2p/lane_state.h"

namespace ashlar::p2p {
namespace {

void make_persistent(Operation& operation) {
  operation.state.store(Request::State::kInactive, std::memory_order_relaxed);
  operation.flags |= Request::kPersistent;
  operation.share_objects();
}

Status make_send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Procedure call,
                 Request** request) {
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  const DataView data = DataView::of(buf, count, type);
  SendRequest* const r = lane.p2p->sends.take(comm, call, data, data.bytes(), dest, tag);
  if (r == nullptr) return no_request(lane.p2p->sends);
  if (call == Procedure::kSsendInit) r->mode = SendMode::kSynchronous;
  if (call == Procedure::kRsendInit && lane.p2p->config.check_ready) r->mode = SendMode::kReady;
  if (call == Procedure::kBsendInit) r->ops = &kBufferedOps;
  make_persistent(*r);
  *request = r;
  return {};
}

}  // namespace

Status send_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request) {
  return make_send(buf, count, type, dest, tag, comm, Procedure::kSendInit, request);
}

Status ssend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request) {
  return make_send(buf, count, type, dest, tag, comm, Procedure::kSsendInit, request);
}

Status bsend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request) {
  return make_send(buf, count, type, dest, tag, comm, Procedure::kBsendInit, request);
}

Status rsend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request) {
  return make_send(buf, count, type, dest, tag, comm, Procedure::kRsendInit, request);
}

Status recv_init(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, Request** request) {
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  const DataView data{buf, count, &type};
  RecvRequest* const r = lane.p2p->receives.take(comm, Procedure::kRecvInit, data, data.bytes());
  if (r == nullptr) return no_request(lane.p2p->receives);
  r->key = {match::Key::place(comm.context, source), tag};
  make_persistent(*r);
  *request = r;
  return {};
}

}  // namespace ashlar::p2p
