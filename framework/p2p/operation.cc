#include "framework/p2p/operation.h"

namespace ashlar::p2p {

const char* name_of(Procedure call) {
  switch (call) {
    case Procedure::kSend:
      return "MPI_Send";
    case Procedure::kSsend:
      return "MPI_Ssend";
    case Procedure::kRsend:
      return "MPI_Rsend";
    case Procedure::kIsend:
      return "MPI_Isend";
    case Procedure::kIssend:
      return "MPI_Issend";
    case Procedure::kIrsend:
      return "MPI_Irsend";
    case Procedure::kSendInit:
      return "MPI_Send_init";
    case Procedure::kSsendInit:
      return "MPI_Ssend_init";
    case Procedure::kRsendInit:
      return "MPI_Rsend_init";
    case Procedure::kBsend:
      return "MPI_Bsend";
    case Procedure::kIbsend:
      return "MPI_Ibsend";
    case Procedure::kBsendInit:
      return "MPI_Bsend_init";
    case Procedure::kRecv:
      return "MPI_Recv";
    case Procedure::kIrecv:
      return "MPI_Irecv";
    case Procedure::kRecvInit:
      return "MPI_Recv_init";
    case Procedure::kPsendInit:
      return "MPI_Psend_init";
    case Procedure::kPrecvInit:
      return "MPI_Precv_init";
    case Procedure::kMrecv:
      return "MPI_Mrecv";
    case Procedure::kImrecv:
      return "MPI_Imrecv";
    case Procedure::kSendrecv:
      return "MPI_Sendrecv";
    case Procedure::kIsendrecv:
      return "MPI_Isendrecv";
    case Procedure::kCollective:
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
