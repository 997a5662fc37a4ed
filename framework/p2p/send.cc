#include "framework/p2p/api.h"
#include "framework/p2p/collective.h"
#include "framework/p2p/eager_limit.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/reason.h"
#include "framework/p2p/send_now.h"
#include "framework/p2p/sending.h"
#include "framework/progress/waiting.h"

// MPI_Send and its forms, blocking and not. Each tries the short path first; what that does not take goes through
// start_send (sending.h).
namespace ashlar::p2p {
namespace {

/// A process that only sends makes progress here: it takes answers in, and learns that it is throttled. Not before a
/// message whose RTS goes first, or its receiver would have to wait while this process copies what it was sent; and not
/// before a first message, whose protocol is not known yet.
void poll_before(Lane& lane, const Sending& message) ASHLAR_REQUIRES(lane.lock) {
  Peer* const peer = known_peer(message.comm, message.to);
  if (peer == nullptr || peer->link(lane).eager_limit == 0) return;
  if (message.data.bytes() > eager_limit(peer->link(lane), message.comm)) return;
  // The other lanes, too: what arrives there would be kept without a bound.
  progress::poll_all(lane);
}

Status finish_blocking(Lane& lane, SendRequest& r) ASHLAR_REQUIRES(lane.lock) {
  progress::wait(
      lane, [&r] { return r.complete(); }, because_of(r));
  const Status outcome = r.outcome;
  lane.p2p->sends.put(&r);
  return outcome;
}

[[gnu::noinline]] Status send_blocking(Lane& lane, const Sending& message) ASHLAR_REQUIRES(lane.lock) {
  poll_before(lane, message);
  SendRequest* r = nullptr;
  ASHLAR_TRY(start_send(lane, message, &r));
  return r == nullptr ? Status{} : finish_blocking(lane, *r);
}

/// The request of a nonblocking send that has left over `link`: complete, and kept for MPI_Cancel. `r` is what
/// SentRequests::next() gave.
inline Request* hand_out(LaneState& state, SendRequest* r, Link& link, const Comm& comm, Tag tag) {
  if (r == nullptr) [[unlikely]]
    return state.sent;
  state.sent_requests.use(*r);
  r->link = &link;
  r->from = match::Key::place(comm.context, comm.rank);
  r->tag = tag;
  return r;
}

/// The short path of a nonblocking send; nullptr: the message has not left.
inline Request* isend_now(Lane& lane, Comm& comm, const void* buf, MPI_Count count, Datatype& type, Rank to, Tag tag)
    ASHLAR_REQUIRES(lane.lock) {
  Peer* const peer = known_peer(comm, to);
  if (peer == nullptr) [[unlikely]]
    return nullptr;
  Link& link = peer->link(lane);
  LaneState& state = *lane.p2p;
  SendRequest* const r = state.sent_requests.next(state.sends, state.nowhere);
  if (!send_on(link, comm, comm.context, buf, count, type, tag, r != nullptr ? r->remote : 0)) [[unlikely]]
    return nullptr;
  return hand_out(state, r, link, comm, tag);
}

[[gnu::noinline]] Status isend_slowly(Lane& lane, Sending message, Request** request) ASHLAR_REQUIRES(lane.lock) {
  poll_before(lane, message);
  LaneState& state = *lane.p2p;
  SendRequest* const sent = state.sent_requests.next(state.sends, state.nowhere);
  if (sent != nullptr) message.name = sent->remote;
  SendRequest* r = nullptr;
  ASHLAR_TRY(start_send(lane, message, &r));
  if (r == nullptr) {
    *request = hand_out(state, sent, known_peer(message.comm, message.to)->link(lane), message.comm, message.tag);
    return {};
  }
  r->share_objects();
  *request = r;
  return {};
}

/// The arguments of a blocking standard send, in memory.
struct Arguments {
  const void* buf;
  MPI_Count count;
  Datatype* type;
  Comm* comm;
  int dest, tag;
  Sending as(Procedure call) const {
    return {.comm = *comm, .data = DataView::of(buf, count, *type), .to = dest, .tag = tag, .call = call};
  }
};

[[gnu::noinline]] Status send_under_lock(const Arguments& a, Procedure call) {
  Comm& comm = *a.comm;
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  if (send_now(lane, comm, comm.context, a.buf, a.count, *a.type, a.dest, a.tag)) return {};
  return send_blocking(lane, a.as(call));
}

[[gnu::noinline]] Status send_slowly(const Arguments& a, Procedure call) ASHLAR_NO_THREAD_SAFETY {
  return send_blocking(*a.comm->lane, a.as(call));
}

// Without threads and without tools there is no lock to take and nothing to undo behind the call: that keeps the short
// path short.
inline Status send_standard(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                            Procedure call) ASHLAR_NO_THREAD_SAFETY {
  if (dest == MPI_PROC_NULL) [[unlikely]]
    return {};
  // The slow path takes its arguments from memory. Storing them is cheaper than six registers kept across the call into
  // the transport, which would be saved and restored; the empty statement tells the compiler that they are read there.
  const Arguments arguments{buf, count, &type, &comm, dest, tag};
  asm volatile("" : : "r"(&arguments) : "memory");
  if (!LaneLock::plain()) [[unlikely]]
    return send_under_lock(arguments, call);
  // Without threads there is one lane.
  Peer* const peer = known_peer(comm, dest);
  if (peer != nullptr && send_on(peer->first, comm, comm.context, buf, count, type, tag)) [[likely]]
    return {};
  return send_slowly(arguments, call);
}

[[gnu::noinline]] Status isend_under_lock(const Arguments& a, Procedure call, Request** request) {
  Comm& comm = *a.comm;
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  *request = LaneLock::counts() ? nullptr : isend_now(lane, comm, a.buf, a.count, *a.type, a.dest, a.tag);
  if (*request != nullptr) return {};
  return isend_slowly(lane, a.as(call), request);
}

// Without a lock as send_standard().
inline Status isend_standard(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                             Procedure call, Request** request) ASHLAR_NO_THREAD_SAFETY {
  Lane& lane = *comm.lane;
  if (dest == MPI_PROC_NULL) [[unlikely]] {
    *request = lane.p2p->sent;
    return {};
  }
  if (!LaneLock::plain()) [[unlikely]]
    return isend_under_lock({buf, count, &type, &comm, dest, tag}, call, request);
  *request = isend_now(lane, comm, buf, count, type, dest, tag);
  if (*request != nullptr) [[likely]]
    return {};
  return isend_slowly(
      lane, {.comm = comm, .data = DataView::of(buf, count, type), .to = dest, .tag = tag, .call = call}, request);
}

/// A send whose mode the short path does not know.
Status send_in_mode(SendMode mode, const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                    Procedure call) {
  if (dest == MPI_PROC_NULL) return {};
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  return send_blocking(
      lane, {.comm = comm, .data = DataView::of(buf, count, type), .to = dest, .tag = tag, .call = call, .mode = mode});
}

Status isend_in_mode(SendMode mode, const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                     Procedure call, Request** request) {
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  if (dest == MPI_PROC_NULL) {
    *request = lane.p2p->sent;
    return {};
  }
  return isend_slowly(
      lane, {.comm = comm, .data = DataView::of(buf, count, type), .to = dest, .tag = tag, .call = call, .mode = mode},
      request);
}

// The configuration does not change while there is traffic.
bool checks_ready(const Comm& comm) ASHLAR_NO_THREAD_SAFETY { return comm.lane->p2p->config.check_ready; }

}  // namespace

Status send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm) {
  return send_standard(buf, count, type, dest, tag, comm, Procedure::kSend);
}

Status rsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm) {
  if (checks_ready(comm)) [[unlikely]]
    return send_in_mode(SendMode::kReady, buf, count, type, dest, tag, comm, Procedure::kRsend);
  return send_standard(buf, count, type, dest, tag, comm, Procedure::kRsend);
}

Status ssend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm) {
  return send_in_mode(SendMode::kSynchronous, buf, count, type, dest, tag, comm, Procedure::kSsend);
}

Status isend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request) {
  return isend_standard(buf, count, type, dest, tag, comm, Procedure::kIsend, request);
}

Status irsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request) {
  if (checks_ready(comm)) [[unlikely]]
    return isend_in_mode(SendMode::kReady, buf, count, type, dest, tag, comm, Procedure::kIrsend, request);
  return isend_standard(buf, count, type, dest, tag, comm, Procedure::kIrsend, request);
}

Status issend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request) {
  return isend_in_mode(SendMode::kSynchronous, buf, count, type, dest, tag, comm, Procedure::kIssend, request);
}

// The analysis does not see that comm.lane->lock is the lock of *comm.lane under another name.
Status post_send(Comm& comm, const DataView& data, Rank to, Tag tag, Gate& gate,
                 CallSignature called) ASHLAR_NO_THREAD_SAFETY {
  if (to == MPI_PROC_NULL) return {};
  Lane& lane = *comm.lane;
  if (send_now(lane, comm, comm.context + 1, data.data, data.count, *data.type, to, tag, called.brief())) [[likely]]
    return {};
  return start_send_on_gate(
      lane, {.comm = comm, .data = data, .to = to, .tag = tag, .call = Procedure::kCollective, .called = called}, gate);
}

}  // namespace ashlar::p2p
