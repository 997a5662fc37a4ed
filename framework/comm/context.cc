#include "framework/comm/context.h"

#include <mpi.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "framework/base/lane_lock.h"
#include "framework/comm/group_exchange.h"
#include "framework/comm/inter_exchange.h"
#include "framework/object/comm.h"

namespace ashlar::comm {
namespace {

constinit std::mutex mutex;
std::int64_t next_id = ContextIds::kFirst;
int in_flight = 0;
// Ranges [first, second) above next_id that agreements took while a smaller one was still open. Empty unless threads
// are on.
std::map<std::int64_t, std::int64_t>& taken_ahead() {
  static std::map<std::int64_t, std::int64_t> ranges;
  return ranges;
}
constexpr std::int64_t kSmallestRange = 8, kLargestRange = 512;  // as distances: ids are even

bool overlaps_taken(std::int64_t id, std::int64_t end) {
  for (const auto& [first, last] : taken_ahead())
    if (id < last && first < end) return true;
  return false;
}

}  // namespace

ContextIds::Proposal ContextIds::propose() {
  const std::lock_guard guard(mutex);
  std::int64_t id = next_id;
  if (!taken_ahead().empty()) id = std::max(id, taken_ahead().rbegin()->second);
  return {id, LaneLock::threads_on() || in_flight > 0 ? 1 : 0};
}

void ContextIds::set_in_flight(int change) {
  const std::lock_guard guard(mutex);
  in_flight += change;
}

bool ContextIds::claim(std::int64_t id, std::int64_t end) {
  const std::lock_guard guard(mutex);
  if (id < next_id || overlaps_taken(id, end)) return false;
  if (!LaneLock::threads_on()) {
    next_id = end;
    return true;
  }
  taken_ahead()[id] = end;
  // What follows on without a gap needs no entry, and a gap below ranges in use is never proposed again.
  while (!taken_ahead().empty() && (taken_ahead().begin()->first == next_id || taken_ahead().size() > 64)) {
    next_id = taken_ahead().begin()->second;
    taken_ahead().erase(taken_ahead().begin());
  }
  return true;
}

Status ids_left(std::int64_t begin, std::int64_t span) {
  if (begin + span <= ContextIds::kEnd) return {};
  return Status::fail(MPI_ERR_OTHER, "2^30 communicators were made; no context id is left");
}

std::int64_t next_range(const Comm& comm) {
  return std::clamp<std::int64_t>(2 * std::int64_t{comm.child_context_range}, kSmallestRange, kLargestRange);
}

bool take_agreed_id(Comm& comm, std::uint32_t* context) {
  if (comm.child_context_end - comm.child_context < ContextIds::kStep) return false;
  *context = comm.child_context;
  comm.child_context += ContextIds::kStep;
  return true;
}

Status take_id(Comm& comm, std::uint32_t* context) {
  if (take_agreed_id(comm, context)) return {};
  const std::int64_t range = next_range(comm);
  std::uint32_t begin = 0;
  ASHLAR_TRY(agree_with([&](std::int64_t* values, int n) { return max_over_all(comm, values, n); }, range, &begin));
  comm.child_context = begin;
  comm.child_context_range = static_cast<std::uint32_t>(range);
  comm.child_context_end = begin + comm.child_context_range;
  if (!take_agreed_id(comm, context)) return Status::fail(MPI_ERR_INTERN, "a range of ids is too small");
  return {};
}

Status agree(Comm& comm, Group& group, int tag, std::uint32_t* context) {
  return agree_with([&](std::int64_t* values, int n) { return group_max(comm, group, tag, values, n); },
                    ContextIds::kStep, context);
}

}  // namespace ashlar::comm
