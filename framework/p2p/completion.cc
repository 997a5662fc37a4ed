#include "framework/p2p/completion.h"

#include "framework/base/failure.h"
#include "framework/p2p/reason.h"
#include "framework/p2p/retire.h"
#include "framework/progress/waiting.h"

// One request, and all of an array.
namespace ashlar::p2p {
namespace {

void await(Lane& lane, Request& r) ASHLAR_NO_THREAD_SAFETY {
  if (!r.complete())
    progress::wait(
        lane, [&r] { return r.complete(); }, because_of(r));
}

void look_once(Lane& lane) ASHLAR_NO_THREAD_SAFETY { progress::look(lane); }

/// After a process failed, its requests are over but others may never be: what is not complete stays pending.
bool leaves_others(Status outcome) { return outcome.mpi_class() == MPI_ERR_PROC_ABORTED; }

}  // namespace

Status Outcomes::result() const {
  if (first_.ok() || statuses_ == MPI_STATUSES_IGNORE) return first_;
  return fail(MPI_ERR_IN_STATUS, "request.in_array", {{"index", request_}, {"lower", first_.text()}});
}

Status wait(Request** request, MPI_Status* status) {
  Request* const r = *request;
  if (idle(r)) [[unlikely]] {
    fill_empty_status(status);
    return {};
  }
  Lane& lane = r->lane();
  const LaneGuard guard(lane.lock);
  await(lane, *r);
  bool gone;
  const Status outcome = retire(*r, status, &gone);
  if (gone) *request = nullptr;
  return outcome;
}

Status test(Request** request, int* flag, MPI_Status* status) {
  Request* const r = *request;
  *flag = 1;
  if (idle(r)) [[unlikely]] {
    fill_empty_status(status);
    return {};
  }
  Lane& lane = r->lane();
  const LaneGuard guard(lane.lock);
  if (!r->complete()) {
    progress::look(lane);
    if (!r->complete()) {
      *flag = 0;
      return {};
    }
  }
  bool gone;
  const Status outcome = retire(*r, status, &gone);
  if (gone) *request = nullptr;
  return outcome;
}

Status wait_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  LaneCursor lanes;
  Outcomes outcomes(statuses);
  bool peer_lost = false;
  for (int i = 0; i < count; ++i) {
    Request* const r = resolve(requests[i]);
    MPI_Status* const status = at(statuses, i);
    if (idle(r)) {
      fill_empty_status(status);
      outcomes.add(i, i, {});
      continue;
    }
    Lane& lane = lanes.enter(r->lane());
    if (!peer_lost) [[likely]] {
      await(lane, *r);
    } else if (!r->complete()) {
      look_once(lane);
      if (!r->complete()) {
        if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_ERR_PENDING;
        continue;
      }
    }
    bool gone;
    const Status outcome = retire(*r, status, &gone);
    if (gone) requests[i] = MPI_REQUEST_NULL;
    outcomes.add(i, i, outcome);
    if (!outcome.ok()) [[unlikely]]
      peer_lost = peer_lost || leaves_others(outcome);
  }
  lanes.leave();
  return outcomes.result();
}

Status test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  LaneCursor lanes;
  *flag = 0;
  for (int i = 0; i < count; ++i) {
    Request* const r = resolve(requests[i]);
    if (idle(r) || r->complete()) continue;
    look_once(lanes.enter(r->lane()));
    if (!r->complete()) return {};
  }
  *flag = 1;
  Outcomes outcomes(statuses);
  for (int i = 0; i < count; ++i) {
    Request* const r = resolve(requests[i]);
    if (idle(r)) {
      fill_empty_status(at(statuses, i));
      outcomes.add(i, i, {});
      continue;
    }
    lanes.enter(r->lane());
    bool gone;
    const Status outcome = retire(*r, at(statuses, i), &gone);
    if (gone) requests[i] = MPI_REQUEST_NULL;
    outcomes.add(i, i, outcome);
  }
  return outcomes.result();
}

}  // namespace ashlar::p2p
