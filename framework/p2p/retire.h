#pragma once
#include <mpi.h>

#include "framework/base/lane_lock.h"
#include "framework/object/errhandler.h"
#include "framework/object/handle.h"
#include "framework/object/status_fields.h"
#include "framework/p2p/generalized.h"
#include "framework/progress/request.h"

namespace ashlar::p2p {

/// Completes a request for the user: status, then back to inactive, or released. Returns what the operation came to.
/// `*gone`: the handle is not valid any more. Under the lock of the request's lane; the request is complete.
inline Status retire(Request& r, MPI_Status* status, bool* gone) {
  if ((r.flags & Request::kGeneralized) != 0) [[unlikely]] {
    *gone = true;
    return retire_generalized(r, status);
  }
  const Status outcome = r.outcome;
  if (!outcome.ok()) [[unlikely]]
    blame(*r.comm);  // while the request still holds the communicator
  fill_status(status, r.source, r.tag, r.bytes, (r.flags & Request::kCancelled) != 0);
  if (r.persistent()) [[unlikely]] {
    r.state.store(Request::State::kInactive, std::memory_order_relaxed);
    *gone = false;
  } else {
    r.ops->release(r);
    *gone = true;
  }
  return outcome;
}

/// Nothing to wait for: no request, or an inactive persistent one.
inline bool idle(const Request* r) {
  return r == nullptr || r->state.load(std::memory_order_relaxed) == Request::State::kInactive;
}

/// Holds the lock of one lane at a time: the one of the request in hand. Most arrays lie on one lane.
class LaneCursor {
 public:
  LaneCursor() = default;
  ~LaneCursor() { leave(); }
  LaneCursor(const LaneCursor&) = delete;
  LaneCursor& operator=(const LaneCursor&) = delete;

  Lane& enter(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
    if (&lane != lane_) [[unlikely]] {
      leave();
      lane.lock.lock();
      lane_ = &lane;
    }
    return lane;
  }
  void leave() ASHLAR_NO_THREAD_SAFETY {
    if (lane_ != nullptr) lane_->lock.unlock();
    lane_ = nullptr;
  }

 private:
  Lane* lane_ = nullptr;
};

/// The errors of the *all and *some forms: MPI_ERROR of every status is set when one of them failed, and only then.
class Outcomes {
 public:
  explicit Outcomes(MPI_Status* statuses) : statuses_(statuses) {}
  /// For the status at `position` of the statuses given out, `of` in the order of the requests.
  void add(int position, int request, Status outcome) {
    if (!outcome.ok() && first_.ok()) [[unlikely]]
      begin(position, request, outcome);
    if (!first_.ok() && statuses_ != MPI_STATUSES_IGNORE) [[unlikely]]
      statuses_[position].MPI_ERROR = outcome.mpi_class();
  }
  bool failed() const { return !first_.ok(); }
  Status result() const;

 private:
  void begin(int position, int request, Status outcome) {
    first_ = outcome;
    request_ = request;
    if (statuses_ == MPI_STATUSES_IGNORE) return;
    for (int i = 0; i < position; ++i) statuses_[i].MPI_ERROR = MPI_SUCCESS;
  }
  MPI_Status* const statuses_;
  Status first_;
  int request_ = 0;
};

inline MPI_Status* at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

}  // namespace ashlar::p2p
