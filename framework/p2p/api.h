#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Datatype;
class Request;
struct MessageObject;
}  // namespace ashlar

/// The communication calls of MPI-5.0, chapter 3: arguments in the standard's order, handles resolved, arguments
/// already checked (rank in range, MPI_PROC_NULL or MPI_ANY_SOURCE; tag; count >= 0; committed type). Any thread that
/// may call MPI; each call takes the lock of the communicator's lane. The i-forms never block; a request they give out
/// is the caller's until it is completed or freed. A blocking call returns when the buffer may be reused. Buffers and
/// status follow the standard's rules; a status may be MPI_STATUS_IGNORE.
namespace ashlar::p2p {

Status send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm);
Status ssend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm);
Status rsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm);
Status isend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request);
Status issend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request);
Status irsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request);

Status recv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, MPI_Status* status);
/// Buffered mode: MPI_ERR_BUFFER, with the numbers, when the buffer in force (the communicator's, the session's, the
/// process's) has no room.
Status bsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm);
Status ibsend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request);

Status irecv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, Request** request);

Status sendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag, void* recvbuf,
                MPI_Count recvcount, Datatype& recvtype, int source, int recvtag, Comm& comm, MPI_Status* status);
Status sendrecv_replace(void* buf, MPI_Count count, Datatype& type, int dest, int sendtag, int source, int recvtag,
                        Comm& comm, MPI_Status* status);

Status isendrecv(const void* sendbuf, MPI_Count sendcount, Datatype& sendtype, int dest, int sendtag, void* recvbuf,
                 MPI_Count recvcount, Datatype& recvtype, int source, int recvtag, Comm& comm, Request** request);
Status isendrecv_replace(void* buf, MPI_Count count, Datatype& type, int dest, int sendtag, int source, int recvtag,
                         Comm& comm, Request** request);

Status probe(int source, int tag, Comm& comm, MPI_Status* status);
Status iprobe(int source, int tag, Comm& comm, int* flag, MPI_Status* status);

/// Matching probe: the message is taken out of the queue, and only mrecv or imrecv of `*message` receive it.
Status mprobe(int source, int tag, Comm& comm, MessageObject** message, MPI_Status* status);
Status improbe(int source, int tag, Comm& comm, int* flag, MessageObject** message, MPI_Status* status);
Status mrecv(void* buf, MPI_Count count, Datatype& type, MessageObject** message, MPI_Status* status);
Status imrecv(void* buf, MPI_Count count, Datatype& type, MessageObject** message, Request** request);

/// Persistent requests: inactive until start().
Status send_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request);
Status ssend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request);
Status rsend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request);
Status bsend_init(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm, Request** request);
Status recv_init(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, Request** request);

}  // namespace ashlar::p2p
