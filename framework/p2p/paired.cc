#include <cstdlib>

#include "framework/base/failure.h"
#include "framework/object/status_fields.h"
#include "framework/p2p/api.h"
#include "framework/p2p/collective.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/paired.h"
#include "framework/p2p/receiving.h"
#include "framework/p2p/sending.h"

// MPI_Isendrecv: one request for a send and a receive. Its status is the receive's.
namespace ashlar::p2p {
namespace {

void release_pair(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& pair = static_cast<PairRequest&>(request);
  request.lane().p2p->pairs.put(&pair);
}

void describe_pair(const Request& request, char* out, std::size_t room) {
  std::snprintf(out, room, "MPI_Isendrecv on '%s'", request.comm->name.c_str());
}

const RequestOps kPairOps = {.release = release_pair, .describe = describe_pair};

void both_done(Waiter& waiter) {
  auto& pair = static_cast<PairRequest&>(waiter);
  pair.finish(pair.status());
}

Status start_pair(const DataView& out, int dest, int sendtag, const DataView& in, int source, int recvtag, Comm& comm,
                  void* outgoing, Request** request) {
  Lane& lane = *comm.lane;
  const LaneGuard guard(lane.lock);
  PairRequest* const pair = lane.p2p->pairs.take(kPairOps, comm, *out.type, *in.type);
  if (pair == nullptr) return no_request(lane.p2p->pairs);
  pair->run = both_done;
  pair->Waiter::lane = &lane;
  pair->source = MPI_PROC_NULL;
  Status started = start_receive_on_gate(lane, comm, in, source, recvtag, Procedure::kIsendrecv, *pair);
  if (started.ok()) {
    if (dest != MPI_PROC_NULL)
      started = start_send_on_gate(
          lane, {.comm = comm, .data = out, .to = dest, .tag = sendtag, .call = Procedure::kIsendrecv}, *pair);
    if (!started.ok()) abandon(lane, *pair);  // a receive that is matched already completes with its message
  }
  pair->outgoing = started.ok() ? outgoing : nullptr;
  if (pair->open()) {
    if (!started.ok()) {
      pair->ops->release(*pair);
      return started;
    }
    pair->finish(pair->status());
  } else {
    pair->on_open(*pair);
    if (!started.ok()) {
      // Nobody gets the request: it goes when the receive does.
      pair->flags &= static_cast<std::uint8_t>(~Request::kHeld);
      return started;
    }
  }
  *request = pair;
  return {};
}

}  // namespace

PairRequest::PairRequest(const RequestOps& o, Comm& c, Datatype& out, Datatype& in)
    : Request(o, c),
      shared_comm(Ref<Comm>::share(c)),
      sent_type(Ref<Datatype>::share(out)),
      received_type(Ref<Datatype>::share(in)) {}

PairRequest::~PairRequest() { std::free(outgoing); }

void take_status(const Request& receive, Gate& gate) {
  auto& pair = static_cast<PairRequest&>(gate);
  pair.source = receive.source;
  pair.tag = receive.tag;
  pair.bytes = receive.bytes;
}

Status isendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag, void* recvbuf,
                 MPI_Count recvcount, Datatype& recvtype, int source, int recvtag, Comm& comm, Request** request) {
  return start_pair(DataView::of(sendbuf, sendcount, sendtype), dest, sendtag, {recvbuf, recvcount, &recvtype}, source,
                    recvtag, comm, nullptr, request);
}

Status isendrecv_replace(void* buf, MPI_Count count, Datatype& type, int dest, int sendtag, int source, int recvtag,
                         Comm& comm, Request** request) {
  const DataView data = DataView::of(buf, count, type);
  const auto bytes = static_cast<std::size_t>(data.bytes());
  void* const outgoing = std::malloc(bytes != 0 ? bytes : 1);
  if (outgoing == nullptr)
    return fail(MPI_ERR_NO_MEM, "memory.none",
                {{"what", "a copy of what MPI_Isendrecv_replace sends"}, {"bytes_wanted", bytes}});
  if (dest != MPI_PROC_NULL) datatype::pack(data, 0, outgoing, bytes);
  DataView packed;
  Ref<Datatype> stands;
  Status started = stand_in(comm, outgoing, data, &stands, &packed);
  if (started.ok()) started = start_pair(packed, dest, sendtag, data, source, recvtag, comm, outgoing, request);
  if (!started.ok()) std::free(outgoing);
  return started;
}

}  // namespace ashlar::p2p
