#include "framework/comm/context_ids.h"

#include <mpi.h>

#include <algorithm>

#include "framework/base/failure.h"
#include "framework/base/lane_lock.h"

namespace ashlar::comm {

bool ContextIds::overlaps_taken(std::int64_t id, std::int64_t end) const {
  return std::any_of(taken_ahead_.begin(), taken_ahead_.end(),
                     [&](const auto& range) { return id < range.second && range.first < end; });
}

ContextIds::Proposal ContextIds::propose() {
  const std::lock_guard guard(mutex_);
  std::int64_t id = next_;
  if (!taken_ahead_.empty()) id = std::max(id, taken_ahead_.rbegin()->second);
  return {id, LaneLock::threads_on() || in_flight_ > 0 ? 1 : 0};
}

void ContextIds::set_in_flight(int change) {
  const std::lock_guard guard(mutex_);
  in_flight_ += change;
}

bool ContextIds::claim(std::int64_t id, std::int64_t end) {
  const std::lock_guard guard(mutex_);
  if (id < next_ || overlaps_taken(id, end)) return false;
  if (!LaneLock::threads_on()) {
    next_ = end;
    return true;
  }
  taken_ahead_[id] = end;
  // What follows on without a gap needs no entry, and a gap below ranges in use is never proposed again.
  while (!taken_ahead_.empty() && (taken_ahead_.begin()->first == next_ || taken_ahead_.size() > 64)) {
    next_ = taken_ahead_.begin()->second;
    taken_ahead_.erase(taken_ahead_.begin());
  }
  return true;
}

Status ids_left(std::int64_t begin, std::int64_t span) {
  if (begin + span <= ContextIds::kEnd) return {};
  return fail(MPI_ERR_OTHER, "comm.no_context_id", {{"most", ContextIds::kEnd / ContextIds::kStep}});
}

}  // namespace ashlar::comm
