#include "framework/p2p/completion.h"
#include "framework/p2p/reason.h"
#include "framework/p2p/retire.h"
#include "framework/progress/waiting.h"

// One, or some, of an array of requests.
namespace ashlar::p2p {
namespace {

struct Look {
  int complete = MPI_UNDEFINED;  // position of the first complete request
  Request* waiting = nullptr;    // the first that is still active
};

Look look(int count, const MPI_Request* requests) {
  Look result;
  for (int i = 0; i < count; ++i) {
    Request* const r = resolve(requests[i]);
    if (idle(r)) continue;
    if (r->complete()) {
      result.complete = i;
      return result;
    }
    if (result.waiting == nullptr) result.waiting = r;
  }
  return result;
}

/// One round of progress on every lane that an active request belongs to.
void look_all(int count, const MPI_Request* requests) ASHLAR_NO_THREAD_SAFETY {
  LaneCursor lanes;
  const Lane* last = nullptr;
  for (int i = 0; i < count; ++i) {
    Request* const r = resolve(requests[i]);
    if (idle(r) || r->complete() || &r->lane() == last) continue;
    last = &r->lane();
    progress::look(lanes.enter(r->lane()));
  }
}

/// Waits until a request is complete. False: there is none to wait for.
bool await_any(int count, const MPI_Request* requests) ASHLAR_NO_THREAD_SAFETY {
  const Look first = look(count, requests);
  if (first.complete != MPI_UNDEFINED) return true;
  if (first.waiting == nullptr) return false;
  LaneCursor lanes;
  // The lane of the first one is polled in every round; the wait looks at the other lanes as well.
  Lane& lane = lanes.enter(first.waiting->lane());
  const RequestArray any{count, requests};
  progress::wait(
      lane, [&] { return look(count, requests).complete != MPI_UNDEFINED; }, because_of(any));
  return true;
}

Status take_one(MPI_Request* requests, int i, MPI_Status* status) {
  Request* const r = resolve(requests[i]);
  LaneCursor lanes;
  lanes.enter(r->lane());
  bool gone;
  const Status outcome = retire(*r, status, &gone);
  if (gone) requests[i] = MPI_REQUEST_NULL;
  return outcome;
}

/// Every complete request, in the order of the array: no one is passed over, however often the others complete.
Status take_some(int incount, MPI_Request* requests, int* outcount, int* indices, MPI_Status* statuses) {
  LaneCursor lanes;
  Outcomes outcomes(statuses);
  int taken = 0;
  for (int i = 0; i < incount; ++i) {
    Request* const r = resolve(requests[i]);
    if (idle(r) || !r->complete()) continue;
    lanes.enter(r->lane());
    bool gone;
    const Status outcome = retire(*r, at(statuses, taken), &gone);
    if (gone) requests[i] = MPI_REQUEST_NULL;
    indices[taken] = i;
    outcomes.add(taken, i, outcome);
    ++taken;
  }
  *outcount = taken;
  return outcomes.result();
}

bool any_active(int count, const MPI_Request* requests) {
  for (int i = 0; i < count; ++i)
    if (!idle(resolve(requests[i]))) return true;
  return false;
}

}  // namespace

Status wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  if (!await_any(count, requests)) {
    *index = MPI_UNDEFINED;
    fill_empty_status(status);
    return {};
  }
  *index = look(count, requests).complete;
  return take_one(requests, *index, status);
}

Status test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  Look found = look(count, requests);
  if (found.complete == MPI_UNDEFINED && found.waiting != nullptr) {
    look_all(count, requests);
    found = look(count, requests);
  }
  *index = found.complete;
  *flag = found.complete != MPI_UNDEFINED || found.waiting == nullptr;
  if (found.complete != MPI_UNDEFINED) return take_one(requests, found.complete, status);
  if (found.waiting == nullptr) fill_empty_status(status);
  return {};
}

Status wait_some(int incount, MPI_Request* requests, int* outcount, int* indices, MPI_Status* statuses) {
  if (!await_any(incount, requests)) {
    *outcount = MPI_UNDEFINED;
    return {};
  }
  return take_some(incount, requests, outcount, indices, statuses);
}

Status test_some(int incount, MPI_Request* requests, int* outcount, int* indices, MPI_Status* statuses) {
  if (!any_active(incount, requests)) {
    *outcount = MPI_UNDEFINED;
    return {};
  }
  look_all(incount, requests);
  return take_some(incount, requests, outcount, indices, statuses);
}

}  // namespace ashlar::p2p
