#include "framework/p2p/operation.h"

namespace ashlar::p2p {

const char* name_of(Call call) {
  switch (call) {
    case Call::kSend:
      return "MPI_Send";
    case Call::kSsend:
      return "MPI_Ssend";
    case Call::kRsend:
      return "MPI_Rsend";
    case Call::kIsend:
      return "MPI_Isend";
    case Call::kIssend:
      return "MPI_Issend";
    case Call::kIrsend:
      return "MPI_Irsend";
    case Call::kSendInit:
      return "MPI_Send_init";
    case Call::kSsendInit:
      return "MPI_Ssend_init";
    case Call::kRsendInit:
      return "MPI_Rsend_init";
    case Call::kBsend:
      return "MPI_Bsend";
    case Call::kIbsend:
      return "MPI_Ibsend";
    case Call::kBsendInit:
      return "MPI_Bsend_init";
    case Call::kRecv:
      return "MPI_Recv";
    case Call::kIrecv:
      return "MPI_Irecv";
    case Call::kRecvInit:
      return "MPI_Recv_init";
    case Call::kPsendInit:
      return "MPI_Psend_init";
    case Call::kPrecvInit:
      return "MPI_Precv_init";
    case Call::kMrecv:
      return "MPI_Mrecv";
    case Call::kImrecv:
      return "MPI_Imrecv";
    case Call::kSendrecv:
      return "MPI_Sendrecv";
    case Call::kIsendrecv:
      return "MPI_Isendrecv";
    case Call::kCollective:
      return "a collective";
  }
  return "";
}

namespace {

/// Predefined objects outlive all operations, so the most frequent case counts nothing. Without threads the count needs
/// no atomic addition.
void share(Object& object) {
  if (object.predefined != 0) return;
  if (LaneLock::threads_on()) {
    object.references.fetch_add(1, std::memory_order_relaxed);
  } else {
    object.references.store(object.references.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
}

}  // namespace

void Operation::share_objects() {
  shares_objects_ = true;
  share(*comm);
  share(*data.type);
}

void Operation::release_objects() {
  if (data.type->predefined == 0) ashlar::release(data.type);
  if (comm->predefined == 0) ashlar::release(comm);
}

}  // namespace ashlar::p2p
