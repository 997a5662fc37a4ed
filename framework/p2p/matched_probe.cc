#include "framework/object/handle.h"
#include "framework/object/status_fields.h"
#include "framework/p2p/api.h"
#include "framework/p2p/message.h"
#include "framework/p2p/probing.h"
#include "framework/p2p/reason.h"
#include "framework/p2p/state.h"
#include "framework/progress/waiting.h"

// Matching probe: a message taken out of the queue by one call is received by another, whatever other threads do.
namespace ashlar::p2p {
namespace {

constinit MessageObject no_proc;

Status no_memory(const char* what) { return Status::fail(MPI_ERR_NO_MEM, "no memory for %s", what); }

/// Takes `arrival` out of the queue for the user.
Status take_out(Lane& lane, Comm& comm, Arrival& arrival, MessageObject** message, MPI_Status* status)
    ASHLAR_REQUIRES(lane.lock) {
  LaneState& state = *lane.p2p;
  MessageObject* const taken = state.messages.take(comm, arrival);
  if (taken == nullptr) return no_memory("a matched message");
  report(arrival, status);
  withdraw(lane, state, arrival);
  hold(comm);
  *message = taken;
  return {};
}

/// The receive of a message that was taken out before; nullptr: no memory, and the message stays.
RecvRequest* receive_taken(Lane& lane, const DataView& data, MessageObject& message, Call call)
    ASHLAR_REQUIRES(lane.lock) {
  LaneState& state = *lane.p2p;
  RecvRequest* const r = state.receives.take(*message.comm, call, data, data.bytes());
  if (r == nullptr) return nullptr;
  Arrival& arrival = *message.arrival;
  r->key = arrival.key;
  state.messages.put(&message);
  receive_kept(lane, state, *r, arrival);
  return r;
}

/// The request of a receive from MPI_PROC_NULL. Made before traffic, and the same ever after.
Request& nothing_received() ASHLAR_NO_THREAD_SAFETY { return *home().p2p->nothing_received; }

}  // namespace

void register_no_proc_message() {
  const auto bits = reinterpret_cast<std::uintptr_t>(MPI_MESSAGE_NO_PROC);
  no_proc.predefined = static_cast<std::uint32_t>(bits);
  predefined_objects[bits] = &no_proc;
}

Status mprobe(int source, int tag, Comm& comm, MessageObject** message, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    *message = &no_proc;
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
    *message = &no_proc;
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
  if (taken.comm == nullptr) {
    *message = nullptr;
    fill_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return {};
  }
  Comm& comm = *taken.comm;
  Status outcome;
  {
    Lane& lane = *comm.lane;
    const LaneGuard guard(lane.lock);
    RecvRequest* const r = receive_taken(lane, {buf, count, &type}, taken, Call::kMrecv);
    if (r == nullptr) return no_memory("a request");
    *message = nullptr;
    progress::wait(
        lane, [r] { return r->complete(); }, because_of(*r));
    outcome = r->outcome;
    fill_status(status, r->source, r->tag, r->bytes);
    lane.p2p->receives.put(r);
  }
  if (!outcome.ok()) blame(comm);
  let_go(comm);
  return outcome;
}

Status imrecv(void* buf, MPI_Count count, Datatype& type, MessageObject** message, Request** request) {
  MessageObject& taken = **message;
  if (taken.comm == nullptr) {
    *message = nullptr;
    *request = &nothing_received();
    return {};
  }
  Comm& comm = *taken.comm;
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  RecvRequest* const r = receive_taken(lane, {buf, count, &type}, taken, Call::kImrecv);
  if (r == nullptr) return no_memory("a request");
  // The message's reference to the communicator becomes the request's.
  r->holds = true;
  hold(type);
  *message = nullptr;
  *request = r;
  return {};
}

}  // namespace ashlar::p2p
