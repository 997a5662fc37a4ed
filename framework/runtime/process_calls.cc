// Calls of point-to-point that name no communicator: they use the first lane of the process.
#include "framework/object/session.h"
#include "framework/p2p/buffer_api.h"
#include "framework/p2p/completion.h"
#include "framework/runtime/api.h"
#include "framework/runtime/process.h"

namespace ashlar::runtime {
namespace {

Lane& first_lane() { return *Process::current()->lane(0); }

}  // namespace

Status buffer_attach(void* buffer, MPI_Count size) { return p2p::buffer_attach(first_lane(), buffer, size); }

Status buffer_detach(void* buffer_addr, MPI_Count* size) { return p2p::buffer_detach(first_lane(), buffer_addr, size); }

Status buffer_flush() { return p2p::buffer_flush(first_lane()); }

Status buffer_iflush(Request** request) { return p2p::buffer_iflush(first_lane(), request); }

Status session_attach_buffer(Session& session, void* buffer, MPI_Count size) {
  return p2p::attach_to(first_lane(), &session.origin->send_buffer, buffer, size);
}

Status session_detach_buffer(Session& session, void* buffer_addr, MPI_Count* size) {
  return p2p::detach_from(first_lane(), session.origin->send_buffer, buffer_addr, size);
}

Status session_flush_buffer(Session& session) { return p2p::flush(first_lane(), session.origin->send_buffer); }

Status session_iflush_buffer(Session& session, Request** request) {
  return p2p::iflush(first_lane(), session.origin->send_buffer, request);
}

Status grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                      MPI_Grequest_cancel_function* cancel_fn, void* extra_state, Request** request) {
  return p2p::grequest_start(first_lane(), query_fn, free_fn, cancel_fn, extra_state, request);
}

}  // namespace ashlar::runtime
