#pragma once
#include <mpi.h>

#include "framework/base/status.h"

namespace ashlar {
class Comm;
class Request;
struct Lane;
}  // namespace ashlar

/// The buffers of buffered sends (MPI-5.0, 3.6): of the process, or of one communicator. Memory is the caller's until
/// it is detached; MPI_BUFFER_AUTOMATIC means memory of the library's own. Any thread. attach fails with MPI_ERR_BUFFER
/// when something is attached. detach and flush block until everything in the buffer has left; iflush gives a request
/// for that. detach of nothing returns a null pointer and 0.
namespace ashlar::p2p {

class SendBuffer;

/// The buffer of the process. `lane` is any lane of it: the one that waits, or polls for the request.
Status buffer_attach(Lane& lane, void* buffer, MPI_Count size);
Status buffer_detach(Lane& lane, void* buffer_addr, MPI_Count* size);
Status buffer_flush(Lane& lane);
Status buffer_iflush(Lane& lane, Request** request);

Status comm_attach_buffer(Comm& comm, void* buffer, MPI_Count size);
Status comm_detach_buffer(Comm& comm, void* buffer_addr, MPI_Count* size);
Status comm_flush_buffer(Comm& comm);
Status comm_iflush_buffer(Comm& comm, Request** request);

/// The same for any other owner of a buffer, which keeps it in `*slot` (nullptr until the first attach) and ends it
/// with drop_buffer() when nothing uses it any more. An owner that is a communicator may be freed before that.
Status attach_to(Lane& lane, SendBuffer** slot, void* buffer, MPI_Count size);
Status detach_from(Lane& lane, SendBuffer* slot, void* buffer_addr, MPI_Count* size);
Status flush(Lane& lane, SendBuffer* slot);
Status iflush(Lane& lane, SendBuffer* slot, Request** request, Comm* owner = nullptr);
void drop_buffer(SendBuffer** slot);

}  // namespace ashlar::p2p
