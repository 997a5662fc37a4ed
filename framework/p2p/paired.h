#pragma once
#include "framework/progress/gate.h"
#include "framework/progress/request.h"

namespace ashlar {
class Datatype;
}
namespace ashlar::p2p {

/// The request of MPI_Isendrecv: a gate for both halves; complete when it opens.
struct PairRequest : Request, Gate, Waiter {
  PairRequest(const RequestOps& o, Comm& c, Datatype& out, Datatype& in);
  ~PairRequest();
  const Ref<Comm> shared_comm;
  const Ref<Datatype> sent_type, received_type;
  void* outgoing = nullptr;  // the packed copy that MPI_Isendrecv_replace sends

  using Gate::status;
};

/// The receive's half of a pair is over: `gate` is the pair's.
void take_status(const Request& receive, Gate& gate);

}  // namespace ashlar::p2p
