// The buffers of buffered sends that belong to sessions (MPI-5.0, 3.6).
#include "framework/object/session.h"
#include "framework/p2p/buffer_api.h"
#include "framework/runtime/api.h"

namespace ashlar::runtime {

Status session_attach_buffer(Session& session, void* buffer, MPI_Count size) {
  return p2p::attach_to(&session.origin->send_buffer, buffer, size);
}

Status session_detach_buffer(Session& session, void* buffer_addr, MPI_Count* size) {
  return p2p::detach_from(session.origin->send_buffer, buffer_addr, size);
}

Status session_flush_buffer(Session& session) { return p2p::flush(session.origin->send_buffer); }

Status session_iflush_buffer(Session& session, Request** request) {
  return p2p::iflush(session.origin->send_buffer, request);
}

}  // namespace ashlar::runtime
