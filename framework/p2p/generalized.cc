#include "framework/p2p/generalized.h"

#include <cstdio>

#include "framework/base/failure.h"
#include "framework/object/status_fields.h"
#include "framework/p2p/completion.h"
#include "framework/p2p/lane_state.h"
#include "framework/progress/waiting.h"

namespace ashlar::p2p {
namespace {

Status outcome_of(int code, const char* function) {
  if (code == MPI_SUCCESS) return {};
  return fail(code, "callback.failed", {{"function", function}, {"owner", "a generalized request"}, {"value", code}});
}

/// Calls a user's function without the lock of the request's lane, which the caller holds.
template <class Function, class... Arguments>
int call(Lane& lane, Function function, Arguments... arguments) ASHLAR_NO_THREAD_SAFETY {
  lane.lock.step_out();
  const int code = function(arguments...);
  lane.lock.step_in();
  return code;
}

/// A handle of the user stays valid until the free function has returned.
Status free_and_put(GeneralizedRequest& r) ASHLAR_NO_THREAD_SAFETY {
  Lane& lane = r.lane();
  const int code = call(lane, r.free, r.extra_state);
  lane.p2p->generalized.put(&r);
  return outcome_of(code, "free");
}

void release_generalized(Request& request) {
  // A failure has no call to return from: the request was freed before it was complete, or is being freed.
  static_cast<void>(free_and_put(static_cast<GeneralizedRequest&>(request)));
}

Status cancel_generalized(Request& request) {
  auto& r = static_cast<GeneralizedRequest&>(request);
  return outcome_of(call(r.lane(), r.cancel, r.extra_state, r.complete() ? 1 : 0), "cancel");
}

void describe_generalized(const Request&, char* out, std::size_t room) {
  std::snprintf(out, room, "a generalized request that MPI_Grequest_complete has not been called for");
}

const RequestOps kGeneralizedOps = {
    .release = release_generalized, .cancel = cancel_generalized, .describe = describe_generalized};

}  // namespace

Status query_generalized(Request& request, MPI_Status* status) {
  auto& r = static_cast<GeneralizedRequest&>(request);
  MPI_Status own = {};
  MPI_Status* const filled = status != MPI_STATUS_IGNORE ? status : &own;
  const int error = filled->MPI_ERROR;
  fill_empty_status(filled);
  const int code = call(r.lane(), r.query, r.extra_state, filled);
  filled->MPI_ERROR = error;  // not the callback's to set (MPI-5.0, 13.2)
  return outcome_of(code, "query");
}

Status retire_generalized(Request& request, MPI_Status* status) {
  const Status asked = query_generalized(request, status);
  const Status freed = free_and_put(static_cast<GeneralizedRequest&>(request));
  return freed.ok() ? asked : freed;
}

Status grequest_start(Lane& lane, MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                      MPI_Grequest_cancel_function* cancel_fn, void* extra_state, Request** request) {
  const LaneGuard guard(lane.lock);
  LaneState& state = *lane.p2p;
  GeneralizedRequest* const r =
      state.generalized.take(kGeneralizedOps, state.nowhere, query_fn, free_fn, cancel_fn, extra_state);
  if (r == nullptr) return no_request(state.generalized);
  *request = r;
  return {};
}

Status grequest_complete(Request* request) {
  if (request == nullptr || request->ops != &kGeneralizedOps)
    return fail(MPI_ERR_REQUEST, "request.made_otherwise", {{"argument", "request"}, {"call", "MPI_Grequest_start"}});
  Lane& lane = request->lane();
  const LaneGuard guard(lane.lock);
  if (!request->active()) return fail(MPI_ERR_REQUEST, "request.complete", {{"argument", "request"}});
  request->finish(Status{});
  progress::raise(lane);
  return {};
}

}  // namespace ashlar::p2p
