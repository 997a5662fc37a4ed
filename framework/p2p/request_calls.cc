#include "framework/base/failure.h"
#include "framework/p2p/completion.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/partitioned.h"
#include "framework/p2p/retire.h"
#include "framework/progress/waiting.h"

// Requests: free, look without completing, cancel, start.
namespace ashlar::p2p {
namespace {

constexpr int kRoundsToOneself = 4;  // the cancellation, its answer, and what was on its way

void look_at_lane_of(Request& r) {
  Lane& lane = r.lane();
  const LaneGuard guard(lane.lock);
  progress::look(lane);
}

/// The status of a complete request, which stays as it is.
Status copy_status(Request* r, MPI_Status* status) {
  if (idle(r)) {
    fill_empty_status(status);
    return {};
  }
  if ((r->flags & Request::kGeneralized) != 0) {
    const LaneGuard guard(r->lane().lock);
    return query_generalized(*r, status);
  }
  fill_status(status, r->source, r->tag, r->bytes, (r->flags & Request::kCancelled) != 0);
  return {};
}

bool partitioned(const Request& r) { return r.ops == &kPartSendOps || r.ops == &kPartRecvOps; }

/// The request in words, for the failure of a call that must not be made with it. That is raised on the request's
/// communicator, or where errors of calls without an object go when the request belongs to none.
class Refused {
 public:
  explicit Refused(const Request& r) ASHLAR_NO_THREAD_SAFETY {
    r.ops->describe(r, text_, sizeof text_);
    if (r.comm != &r.lane().p2p->nowhere) blame(*r.comm);
  }
  const char* text() const { return text_; }

 private:
  char text_[160];
};

bool done(const Request* r) { return idle(r) || r->complete(); }

}  // namespace

Status request_free(Request** request) {
  Request* const r = *request;
  if (r == nullptr)
    return fail(MPI_ERR_REQUEST, "handle.null",
                {{"argument", "request"}, {"value", "MPI_REQUEST_NULL"}, {"kind", "request"}});
  Lane& lane = r->lane();
  const LaneGuard guard(lane.lock);
  // No call could mark the partitions that are left, and the other side would wait for them for ever.
  if (r->active() && partitioned(*r))
    return fail(MPI_ERR_REQUEST, "request.free_active", {{"argument", "request"}, {"request", Refused(*r).text()}});
  *request = nullptr;
  if (r->active()) {
    r->flags &= static_cast<std::uint8_t>(~Request::kHeld);  // it releases itself when it completes
  } else {
    r->ops->release(*r);
  }
  return {};
}

Status request_get_status(Request* request, int* flag, MPI_Status* status) {
  if (!done(request)) look_at_lane_of(*request);
  *flag = done(request);
  return *flag ? copy_status(request, status) : Status{};
}

Status request_get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  *flag = 0;
  for (int i = 0; i < count; ++i) {
    Request* const r = resolve(requests[i]);
    if (!done(r)) look_at_lane_of(*r);
    if (!done(r)) return {};
  }
  *flag = 1;
  Outcomes outcomes(statuses);
  for (int i = 0; i < count; ++i) outcomes.add(i, i, copy_status(resolve(requests[i]), at(statuses, i)));
  return outcomes.result();
}

Status request_get_status_any(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  bool active = false;
  *flag = 0;
  *index = MPI_UNDEFINED;
  for (int i = 0; i < count; ++i) {
    Request* const r = resolve(requests[i]);
    if (idle(r)) continue;
    active = true;
    if (!r->complete()) look_at_lane_of(*r);
    if (!r->complete()) continue;
    *flag = 1;
    *index = i;
    return copy_status(r, status);
  }
  if (!active) {
    *flag = 1;
    fill_empty_status(status);
  }
  return {};
}

Status request_get_status_some(int incount, const MPI_Request* requests, int* outcount, int* indices,
                               MPI_Status* statuses) {
  bool active = false;
  int found = 0;
  Outcomes outcomes(statuses);
  for (int i = 0; i < incount; ++i) {
    Request* const r = resolve(requests[i]);
    if (idle(r)) continue;
    active = true;
    if (!r->complete()) look_at_lane_of(*r);
    if (!r->complete()) continue;
    outcomes.add(found, i, copy_status(r, at(statuses, found)));
    indices[found++] = i;
  }
  *outcount = active ? found : MPI_UNDEFINED;
  return outcomes.result();
}

Status cancel(Request* request) {
  if (request == nullptr)
    return fail(MPI_ERR_REQUEST, "handle.null",
                {{"argument", "request"}, {"value", "MPI_REQUEST_NULL"}, {"kind", "request"}});
  Lane& lane = request->lane();
  const LaneGuard guard(lane.lock);
  // A complete request, too: a message that has left may be recalled, and users learn of their own callbacks.
  if (request->ops->cancel == nullptr)
    return fail(MPI_ERR_REQUEST, "request.no_cancel", {{"argument", "request"}, {"request", Refused(*request).text()}});
  if (request->state.load(std::memory_order_relaxed) == Request::State::kInactive) return {};
  progress::look(lane);  // a program that posts and cancels again and again must come across what is on its way
  ASHLAR_TRY(request->ops->cancel(*request));
  // Within the process the answer is at hand, so the status shows it at once.
  for (int i = 0; lane.self_busy && i < kRoundsToOneself && !request->complete(); ++i) progress::poll(lane);
  progress::raise(lane);  // another thread may wait for it
  return {};
}

Status start(Request** request) {
  Request* const r = *request;
  if (r == nullptr)
    return fail(MPI_ERR_REQUEST, "handle.null",
                {{"argument", "request"}, {"value", "MPI_REQUEST_NULL"}, {"kind", "persistent request"}});
  const LaneGuard guard(r->lane().lock);
  if (!r->persistent() || r->ops->start == nullptr)
    return fail(MPI_ERR_REQUEST, "request.not_persistent", {{"argument", "request"}, {"request", Refused(*r).text()}});
  if (r->state.load(std::memory_order_relaxed) != Request::State::kInactive)
    return fail(MPI_ERR_REQUEST, "request.start_active", {{"argument", "request"}, {"request", Refused(*r).text()}});
  return r->ops->start(*r);
}

Status start_all(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) {
    Request* r = resolve(requests[i]);
    ASHLAR_TRY(start(&r));
  }
  return {};
}

}  // namespace ashlar::p2p
