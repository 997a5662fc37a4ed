#include "framework/p2p/api.h"
#include "framework/p2p/reason.h"
#include "framework/p2p/send_now.h"
#include "framework/p2p/state.h"
#include "framework/progress/waiting.h"

namespace ashlar::p2p {
namespace {

/// Connects, and takes a look around: here one who only sends makes progress, takes answers in, and hears that it must
/// hold. A large message is announced first, or the peer would have to wait while this process copies what it was sent.
Status approach(Lane& lane, Comm& comm, const DataView& data, Rank to) ASHLAR_REQUIRES(lane.lock) {
  Link* link = nullptr;
  ASHLAR_TRY(open_link(lane, comm, to, &link));
  if (data.bytes() > link->eager_limit) return {};
  // Of several lanes the others, too, or what comes for them is kept without a bound.
  progress::poll_all(lane);
  return {};
}

/// A send with a request, which may be complete.
Status launch_new(Lane& lane, Comm& comm, const DataView& data, Rank to, Tag tag, Call call, bool synchronous,
                  SendRequest** out) ASHLAR_REQUIRES(lane.lock) {
  SendRequest* const r = lane.p2p->sends.take(comm, call, data, data.bytes(), to, tag);
  if (r == nullptr) return no_request(lane.p2p->sends);
  r->synchronous = synchronous;
  r->ready = synchronous && (call == Call::kRsend || call == Call::kIrsend);
  const Status started = launch(lane, *r);
  if (!started.ok()) {
    lane.p2p->sends.put(r);
    return started;
  }
  *out = r;
  return {};
}

/// The request of a nonblocking send that could leave within the call; nullptr: it could not.
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
  if (r == nullptr) [[unlikely]]
    return state.sent;
  state.sent_requests.use(*r);
  r->link = &link;
  r->from = match::Key::place(comm.context, comm.rank);
  r->tag = tag;
  return r;
}

Status finish_blocking(Lane& lane, SendRequest& r) ASHLAR_REQUIRES(lane.lock) {
  progress::wait(
      lane, [&r] { return r.complete(); }, because_of(r));
  const Status outcome = r.outcome;
  lane.p2p->sends.put(&r);
  return outcome;
}

[[gnu::noinline]] Status send_blocking(Lane& lane, Comm& comm, const DataView& data, Rank to, Tag tag, Call call,
                                       bool synchronous) ASHLAR_REQUIRES(lane.lock) {
  ASHLAR_TRY(approach(lane, comm, data, to));
  // Most come here because the budget was used up, and it has just been renewed.
  if (!synchronous && send_now(lane, comm, comm.context, data.data, data.count, *data.type, to, tag)) return {};
  SendRequest* r = nullptr;
  ASHLAR_TRY(launch_new(lane, comm, data, to, tag, call, synchronous, &r));
  return finish_blocking(lane, *r);
}

[[gnu::noinline]] Status isend_later(Lane& lane, Comm& comm, const DataView& data, Rank to, Tag tag, Call call,
                                     bool synchronous, Request** request) ASHLAR_REQUIRES(lane.lock) {
  ASHLAR_TRY(approach(lane, comm, data, to));
  if (!synchronous) {
    *request = isend_now(lane, comm, data.data, data.count, *data.type, to, tag);
    if (*request != nullptr) return {};
  }
  SendRequest* r = nullptr;
  ASHLAR_TRY(launch_new(lane, comm, data, to, tag, call, synchronous, &r));
  hold(*r);
  *request = r;
  return {};
}

/// The arguments of a blocking standard send, in memory.
struct Sending {
  const void* buf;
  MPI_Count count;
  Datatype* type;
  Comm* comm;
  int dest, tag;
};

[[gnu::noinline]] Status send_among_threads(const Sending& s, Call call) {
  Comm& comm = *s.comm;
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  if (send_now(lane, comm, comm.context, s.buf, s.count, *s.type, s.dest, s.tag)) return {};
  return send_blocking(lane, comm, DataView::of(s.buf, s.count, *s.type), s.dest, s.tag, call, false);
}

[[gnu::noinline]] Status send_after_all(const Sending& s, Call call) ASHLAR_NO_THREAD_SAFETY {
  return send_blocking(*s.comm->lane, *s.comm, DataView::of(s.buf, s.count, *s.type), s.dest, s.tag, call, false);
}

// Without threads there is no lock to take and nothing to undo behind the call: that keeps the short path short.
inline Status send_standard(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                            Call call) ASHLAR_NO_THREAD_SAFETY {
  if (dest == MPI_PROC_NULL) [[unlikely]]
    return {};
  // The slow path takes its arguments from memory. Storing them is cheaper than six registers kept across the call into
  // the transport, which would be saved and restored; the empty statement tells the compiler that somebody reads them.
  const Sending sending{buf, count, &type, &comm, dest, tag};
  asm volatile("" : : "r"(&sending) : "memory");
  if (LaneLock::threads_on()) [[unlikely]]
    return send_among_threads(sending, call);
  // Without threads there is one lane.
  Peer* const peer = known_peer(comm, dest);
  if (peer != nullptr && send_on(peer->first, comm, comm.context, buf, count, type, tag)) [[likely]]
    return {};
  return send_after_all(sending, call);
}

inline Status isend_standard(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Call call,
                             Request** request) {
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  if (dest == MPI_PROC_NULL) [[unlikely]] {
    *request = lane.p2p->sent;
    return {};
  }
  *request = isend_now(lane, comm, buf, count, type, dest, tag);
  if (*request != nullptr) [[likely]]
    return {};
  return isend_later(lane, comm, DataView::of(buf, count, type), dest, tag, call, false, request);
}

// The configuration does not change while there is traffic.
bool checks_ready(const Comm& comm) ASHLAR_NO_THREAD_SAFETY { return comm.lane->p2p->config.check_ready; }

Status rsend_checked(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm) {
  if (dest == MPI_PROC_NULL) return {};
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  return send_blocking(lane, comm, DataView::of(buf, count, type), dest, tag, Call::kRsend, true);
}

}  // namespace

bool send_packed(Link& link, std::uint64_t h0, std::uint64_t h1, const void* buf, MPI_Count count, Datatype& type) {
  const DataView data = DataView::of(buf, count, type);
  const auto bytes = static_cast<std::uint64_t>(data.bytes());
  if (bytes > link.eager_limit) return false;
  Piece piece{&data, 0};
  ashlar_endpoint* const endpoint = link.endpoint;
  return endpoint->ops->am_bcopy(endpoint, kEager, h0, h1, Piece::fill, &piece, static_cast<std::uint32_t>(bytes)) ==
         ASHLAR_OK;
}

Status send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm) {
  return send_standard(buf, count, type, dest, tag, comm, Call::kSend);
}

Status rsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm) {
  if (checks_ready(comm)) [[unlikely]]
    return rsend_checked(buf, count, type, dest, tag, comm);
  return send_standard(buf, count, type, dest, tag, comm, Call::kRsend);
}

Status ssend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm) {
  if (dest == MPI_PROC_NULL) return {};
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  return send_blocking(lane, comm, DataView::of(buf, count, type), dest, tag, Call::kSsend, true);
}

Status isend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request) {
  return isend_standard(buf, count, type, dest, tag, comm, Call::kIsend, request);
}

Status irsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request) {
  if (checks_ready(comm) && dest != MPI_PROC_NULL) [[unlikely]] {
    Lane& lane = *comm.lane;
    const LaneGuard guard(lane.lock);
    return isend_later(lane, comm, DataView::of(buf, count, type), dest, tag, Call::kIrsend, true, request);
  }
  return isend_standard(buf, count, type, dest, tag, comm, Call::kIrsend, request);
}

Status issend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request) {
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  if (dest == MPI_PROC_NULL) {
    *request = lane.p2p->sent;
    return {};
  }
  return isend_later(lane, comm, DataView::of(buf, count, type), dest, tag, Call::kIssend, true, request);
}

Status start_on_gate(Lane& lane, Comm& comm, const DataView& data, Rank to, Tag tag, Call call, Gate& gate,
                     CallWord called) {
  if (to == MPI_PROC_NULL) return {};
  const bool collective = call == Call::kCollective;
  if (send_now(lane, comm, comm.context + (collective ? 1u : 0u), data.data, data.count, *data.type, to, tag,
               called.brief())) [[likely]]
    return {};
  SendRequest* const r = lane.p2p->sends.take(comm, call, data, data.bytes(), to, tag);
  if (r == nullptr) return no_request(lane.p2p->sends);
  r->collective = collective;
  r->called = called;
  Status outcome = launch(lane, *r);
  if (outcome.ok() && r->active()) {
    gate.add();
    r->gate = &gate;
    return {};
  }
  if (outcome.ok()) outcome = r->outcome;
  lane.p2p->sends.put(r);
  return outcome;
}

// The analysis does not see that comm.lane->lock is the lock of *comm.lane under another name.
Status post_send(Comm& comm, const DataView& data, Rank to, Tag tag, Gate& gate,
                 CallWord called) ASHLAR_NO_THREAD_SAFETY {
  return start_on_gate(*comm.lane, comm, data, to, tag, Call::kCollective, gate, called);
}

}  // namespace ashlar::p2p
