#include "framework/rma/check.h"

#include <mpi.h>

#include <functional>
#include <string_view>
#include <vector>

#include "framework/base/failure.h"
#include "framework/coll/api.h"
#include "framework/datatype/data_view.h"
#include "framework/rma/engine.h"

namespace ashlar::rma {
namespace {

// Runs of one operation that are logged; an operation on more is not seen beyond them.
constexpr std::size_t kRuns = 256;

std::string range_of(const LoggedAccess& access) {
  return "bytes " + std::to_string(access.begin) + " to " + std::to_string(access.end - 1);
}

}  // namespace

Status Check::make() {
  ASHLAR_TRY(log_.make(window_, Engine::current().config.get().check_accesses));
  return window_.sync->barrier("MPI_Win_create");
}

Status Check::begin(const Target& target, const Place& place, LoggedAccess access) {
  iovec runs[kRuns];
  const std::size_t count = datatype::runs(place.in(nullptr), 0, kRuns, runs);
  std::vector<LoggedAccess> list;
  access.origin = window_.me;
  access.passive = window_.passive_to_all || target.held != Held::kNothing;
  for (std::size_t i = 0; i < count; ++i) {
    access.begin = reinterpret_cast<std::uintptr_t>(runs[i].iov_base);
    access.end = access.begin + runs[i].iov_len;
    list.push_back(access);
  }
  Conflict conflict{.own = {}, .other = {}, .target = target.rank};
  bool found = false;
  const std::lock_guard guard(mutex_);
  if (access.passive) passive_.insert(target.rank);
  ASHLAR_TRY(log_.add(target.rank, list, window_.hints.same_op, &conflict.own, &conflict.other, &found));
  if (!found) return {};
  if (conflict_.target < 0)
    conflict_ = conflict;
  else
    ++more_;
  return {};
}

Status Check::report() {
  const std::lock_guard guard(mutex_);
  if (conflict_.target < 0) return {};
  const Conflict first = conflict_;
  const std::uint64_t more = more_;
  conflict_ = {};
  more_ = 0;
  return fail(MPI_ERR_RMA_CONFLICT, "rma.conflict",
              {{"window", window_.label()},
               {"peer", first.target},
               {"rank", first.own.origin},
               {"call", call_of(first.own)},
               {"bytes", range_of(first.own)},
               {"other_rank", first.other.origin},
               {"other_call", call_of(first.other)},
               {"other_bytes", range_of(first.other)},
               {"more", more}});
}

Status Check::end_passive(Rank target) {
  {
    const std::lock_guard guard(mutex_);
    sum_holds_ = false;  // it is of the last synchronization
    if (target != kEveryTarget) {
      if (passive_.erase(target) != 0) ASHLAR_TRY(log_.complete_passive(target));
    } else {
      for (const Rank rank : passive_) ASHLAR_TRY(log_.complete_passive(rank));
      passive_.clear();
    }
  }
  return report();
}

/// Shared memory is stored to by other processes as well, which is no mistake.
bool Check::sums() const { return window_.base != nullptr && window_.create_flavor != MPI_WIN_FLAVOR_SHARED; }

std::uint64_t Check::sum() const {
  return std::hash<std::string_view>()(
      {static_cast<const char*>(window_.base), static_cast<std::size_t>(window_.size)});
}

/// Operations of active target synchronization on this process's memory are complete.
Status Check::end_active() {
  const std::lock_guard guard(mutex_);
  LoggedAccess update;
  ASHLAR_TRY(log_.complete_active(&update));
  ASHLAR_TRY(log_.updates(&updates_));
  sum_holds_ = sums();
  if (sum_holds_) sum_ = sum();
  const bool broken = no_puts_ && update.end != 0;
  no_puts_ = false;
  if (!broken) return {};
  return fail(
      MPI_ERR_ASSERT, "rma.updated",
      {{"window", window_.label()}, {"call", call_of(update)}, {"peer", update.origin}, {"bytes", range_of(update)}});
}

/// MPI_MODE_NOSTORE: the memory is as it was when it was last synchronized, unless operations have changed it.
Status Check::check_no_stores(int assert) {
  if ((assert& MPI_MODE_NOSTORE) == 0) return {};
  const std::lock_guard guard(mutex_);
  if (!sum_holds_) return {};
  const bool changed = sum() != sum_;
  std::uint64_t updates = 0;
  ASHLAR_TRY(log_.updates(&updates));
  if (!changed || updates != updates_) return {};
  return fail(MPI_ERR_ASSERT, "rma.stored", {{"window", window_.label()}, {"last", window_.epochs.last}});
}

/// Some asserts are given by all processes or by none.
Status Check::compare_asserts(int assert) {
  std::vector<int> all(static_cast<std::size_t>(window_.ranks));
  Datatype& type = datatype::predefined(MPI_INT);
  ASHLAR_TRY(coll::allgather(&assert, 1, type, all.data(), 1, type, *window_.comm));
  for (const int which : {MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED})
    for (Rank rank = 0; rank < window_.ranks; ++rank) {
      const int other = all[static_cast<std::size_t>(rank)];
      if (((assert ^ other) & which) == 0) continue;
      const bool own = (assert& which) != 0;
      return fail(MPI_ERR_ASSERT, "rma.fence_asserts",
                  {{"window", window_.label()},
                   {"assert", which == MPI_MODE_NOPRECEDE ? "MPI_MODE_NOPRECEDE" : "MPI_MODE_NOSUCCEED"},
                   {"rank", own ? window_.me : rank},
                   {"other_rank", own ? rank : window_.me}});
    }
  return {};
}

Status Check::begin_fence(int assert) {
  Status own = check_no_stores(assert);
  const bool preceded =
      window_.epochs.access == AccessEpoch::kFence && window_.open_to_all.load(std::memory_order_relaxed);
  if (own.ok() && (assert& MPI_MODE_NOPRECEDE) != 0 && preceded)
    own = fail(MPI_ERR_ASSERT, "rma.preceded", {{"window", window_.label()}, {"last", window_.epochs.last}});
  const Status same = compare_asserts(assert);
  return own.ok() ? same : own;
}

// A second barrier keeps the operations of the next epoch out until the logs are empty.
Status Check::end_fence(int assert) {
  const Status ended = end_active();
  {
    const std::lock_guard guard(mutex_);
    no_puts_ = (assert& MPI_MODE_NOPUT) != 0;
  }
  ASHLAR_TRY(window_.sync->barrier("MPI_Win_fence"));
  if (const Status found = report(); !found.ok()) return found;
  return ended;
}

Status Check::begin_exposure(int assert) {
  const Status stored = check_no_stores(assert);
  const std::lock_guard guard(mutex_);
  no_puts_ = (assert& MPI_MODE_NOPUT) != 0;
  return stored;
}

Status Check::end_exposure() {
  const Status ended = end_active();
  if (const Status found = report(); !found.ok()) return found;
  return ended;
}

}  // namespace ashlar::rma
