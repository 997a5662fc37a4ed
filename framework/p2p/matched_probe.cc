#include "framework/object/handle.h"
#include "framework/object/status_fields.h"
#include "framework/p2p/api.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/message.h"
#include "framework/p2p/probing.h"
#include "framework/p2p/reason.h"
#include "framework/p2p/receiving.h"
#include "framework/progress/waiting.h"

// Matching probe: a message taken out of the queue by one call is received by another, whatever other threads do.
namespace ashlar {

MessageObject::MessageObject(Comm& c, p2p::Arrival& a)
    : Object(Kind::kMessage), comm(Ref<Comm>::share(c)), arrival(&a) {}
MessageObject::~MessageObject() = default;

}  // namespace ashlar

namespace ashlar::p2p {
namespace {

/// Takes `arrival` out of the queue for the user.
Status take_out(Lane& lane, Comm& comm, Arrival& arrival, MessageObject** message, MPI_Status* status)
    ASHLAR_REQUIRES(lane.lock) {
  LaneState& state = *lane.p2p;
  MessageObject* const taken = state.messages.take(comm, arrival);
  if (taken == nullptr) return no_request(state.messages);
  report(arrival, status);
  withdraw(lane, state, arrival);
  *message = taken;
  return {};
}

/// The receive of a message that was taken out before; nullptr: no memory, and the message stays.
RecvRequest* receive_taken(Lane& lane, const DataView& data, MessageObject& message, Procedure call)
    ASHLAR_REQUIRES(lane.lock) {
  LaneState& state = *lane.p2p;
  RecvRequest* const r = state.receives.take(*message.comm, call, data, data.bytes());
  if (r == nullptr) return nullptr;
  if (call == Procedure::kImrecv) r->share_objects();
  Arrival& arrival = *message.arrival;
  r->key = arrival.key;
  state.messages.put(&message);
  receive_kept(lane, state, *r, arrival);
  return r;
}

std::uintptr_t no_proc_handle() { return reinterpret_cast<std::uintptr_t>(MPI_MESSAGE_NO_PROC); }

/// The object never changes once lanes are attached.
MessageObject* no_proc_of(const Comm& comm) ASHLAR_NO_THREAD_SAFETY { return &comm.lane->p2p->process.no_proc; }

}  // namespace

void register_no_proc(MessageObject& message, Request& no_receive) {
  message.predefined = static_cast<std::uint32_t>(no_proc_handle());
  message.no_receive = &no_receive;
  predefined_objects[no_proc_handle()] = &message;
}

void unregister_no_proc(MessageObject& message) {
  if (predefined_objects[no_proc_handle()] == &message) predefined_objects[no_proc_handle()] = nullptr;
}

Status mprobe(int source, int tag, Comm& comm, MessageObject** message, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    *message = no_proc_of(comm);
    return {};
  }
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  Arrival* found = nullptr;
  ASHLAR_TRY(await_message(lane, comm, source, tag, "MPI_Mprobe", &found));
  return take_out(lane, comm, *found, message, status);
}

Status improbe(int source, int tag, Comm& comm, int* flag, MessageObject** message, MPI_Status* status) {
  *flag = 1;
  if (source == MPI_PROC_NULL) {
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    *message = no_proc_of(comm);
    return {};
  }
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  Arrival* const found = look_twice(lane, comm, source, tag);
  *flag = found != nullptr;
  if (found == nullptr) return {};
  return take_out(lane, comm, *found, message, status);
}

Status mrecv(void* buf, MPI_Count count, Datatype& type, MessageObject** message, MPI_Status* status) {
  MessageObject& taken = **message;
  if (!taken.comm) {
    *message = nullptr;
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return {};
  }
  const Ref<Comm> comm = taken.comm;  // given up without the lane's lock, which the end of a communicator takes
  Status outcome;
  {
    Lane& lane = *comm->lane;
    const LaneGuard guard(lane.lock);
    RecvRequest* const r = receive_taken(lane, {buf, count, &type}, taken, Procedure::kMrecv);
    if (r == nullptr) return no_request(lane.p2p->receives);
    *message = nullptr;
    progress::wait(
        lane, [r] { return r->complete(); }, because_of(*r));
    outcome = r->outcome;
    fill_status(status, r->source, r->tag, r->bytes);
    lane.p2p->receives.put(r);
  }
  if (!outcome.ok()) blame(*comm);
  return outcome;
}

Status imrecv(void* buf, MPI_Count count, Datatype& type, MessageObject** message, Request** request) {
  MessageObject& taken = **message;
  if (!taken.comm) {
    *message = nullptr;
    *request = taken.no_receive;
    return {};
  }
  Lane& lane = *taken.comm->lane;
  const LaneGuard guard(lane.lock);
  RecvRequest* const r = receive_taken(lane, {buf, count, &type}, taken, Procedure::kImrecv);
  if (r == nullptr) return no_request(lane.p2p->receives);
  *message = nullptr;
  *request = r;
  return {};
}

}  // namespace ashlar::p2p
