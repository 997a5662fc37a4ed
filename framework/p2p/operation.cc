#include "framework/p2p/operation.h"

#include "framework/p2p/state.h"

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

void drop(Operation& operation) {
  if (!operation.holds) return;
  operation.holds = false;
  let_go(*operation.data.type);
  let_go(*operation.comm);
}

}  // namespace ashlar::p2p
