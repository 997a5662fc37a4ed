#pragma once
#include <mpi.h>

#include "framework/progress/request.h"

namespace ashlar::p2p {

/// A request whose operation the user performs (MPI-5.0, 13.2). Its callbacks run without the lane's lock, so they may
/// call MPI.
struct GeneralizedRequest : Request {
  GeneralizedRequest(const RequestOps& o, Comm& nowhere, MPI_Grequest_query_function* q, MPI_Grequest_free_function* f,
                     MPI_Grequest_cancel_function* c, void* state_of_user)
      : Request(o, nowhere), query(q), free(f), cancel(c), extra_state(state_of_user) {
    flags |= kGeneralized;
  }
  MPI_Grequest_query_function* const query;
  MPI_Grequest_free_function* const free;
  MPI_Grequest_cancel_function* const cancel;
  void* const extra_state;
};

/// What retire() does for such a request: asks for the status and frees it. The last callback that fails decides.
[[gnu::cold]] Status retire_generalized(Request& request, MPI_Status* status) ASHLAR_NO_THREAD_SAFETY;
/// Asks a complete one for its status.
[[gnu::cold]] Status query_generalized(Request& request, MPI_Status* status) ASHLAR_NO_THREAD_SAFETY;

}  // namespace ashlar::p2p
