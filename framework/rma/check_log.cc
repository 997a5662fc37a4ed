#include "framework/rma/check_log.h"

#include <algorithm>
#include <cstring>

#include "framework/base/log.h"
#include "framework/datatype/datatype.h"
#include "framework/rma/api.h"
#include "framework/rma/create.h"
#include "framework/rma/window.h"

namespace ashlar::rma {

namespace {

/// Accumulates that the standard makes atomic with each other: of one type, at the same elements, and of one operation
/// as far as accumulate_ops promises.
bool compatible(const LoggedAccess& a, const LoggedAccess& b, bool strict) {
  if (a.element != b.element || a.element_bytes == 0) return false;
  if ((std::max(a.begin, b.begin) - std::min(a.begin, b.begin)) % a.element_bytes != 0) return false;
  if (a.origin == b.origin) return true;  // in the order of the calls
  const bool swaps = a.kind == LoggedAccess::Kind::kCompareAndSwap || b.kind == LoggedAccess::Kind::kCompareAndSwap;
  if (swaps || a.op == b.op) return true;
  return !strict && (a.no_op || b.no_op);
}

}  // namespace

bool conflict(const LoggedAccess& a, const LoggedAccess& b, bool strict) {
  if (a.end <= b.begin || b.end <= a.begin) return false;
  if (a.accumulates() && b.accumulates()) return !compatible(a, b, strict);
  return a.updates() || b.updates();
}

const char* call_of(const LoggedAccess& access) {
  switch (access.kind) {
    case LoggedAccess::Kind::kPut:
      return "MPI_Put";
    case LoggedAccess::Kind::kGet:
      return "MPI_Get";
    case LoggedAccess::Kind::kAccumulate:
      return "MPI_Accumulate";
    case LoggedAccess::Kind::kGetAccumulate:
      return "MPI_Get_accumulate or MPI_Fetch_and_op";
    case LoggedAccess::Kind::kCompareAndSwap:
      return "MPI_Compare_and_swap";
  }
  return "";
}

Status AccessLog::make(RmaWindow& window, std::uint64_t most) {
  most_ = most;
  const Wanted wanted{.call = "MPI_Win_create",
                      .flavor = MPI_WIN_FLAVOR_ALLOCATE,
                      .base = nullptr,
                      .size = static_cast<MPI_Aint>(sizeof(Head) + most * sizeof(LoggedAccess)),
                      .disp_unit = 1,
                      .info = nullptr,
                      .checked = false};
  ASHLAR_TRY(rma::make(*window.comm, wanted, &log_));
  std::memset(log_->base, 0, static_cast<std::size_t>(log_->size));
  return log_->sync->barrier("MPI_Win_create");
}

AccessLog::~AccessLog() {
  if (log_ != nullptr) unmake(log_);
}

/// The table of one target, as long as it may be changed.
class AccessLog::Turn {
 public:
  Turn(RmaWindow& log, Rank target) : log_(log), target_(target) {}
  ~Turn() {
    if (locked_) static_cast<void>(win_unlock(target_, log_));
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  Status begin() {
    ASHLAR_TRY(win_lock(MPI_LOCK_EXCLUSIVE, target_, 0, log_));
    locked_ = true;
    ASHLAR_TRY(move(&head, sizeof head, 0, true));
    table.resize(head.count);
    return head.count == 0 ? Status() : move(table.data(), table.size() * sizeof table[0], sizeof head, true);
  }
  /// The table is as it should be from `first` on.
  Status store(std::size_t first) {
    head.count = table.size();
    ASHLAR_TRY(move(&head, sizeof head, 0, false));
    if (first == table.size()) return {};
    return move(&table[first], (table.size() - first) * sizeof table[0], sizeof head + first * sizeof table[0], false);
  }

  Head head;
  std::vector<LoggedAccess> table;

 private:
  Status move(void* here, std::size_t bytes, std::size_t at, bool fetch) {
    Datatype& byte = datatype::predefined(MPI_BYTE);
    const auto count = static_cast<MPI_Count>(bytes);
    const auto disp = static_cast<MPI_Aint>(at);
    ASHLAR_TRY(fetch ? rma::get(here, count, byte, target_, disp, count, byte, log_)
                     : rma::put(here, count, byte, target_, disp, count, byte, log_));
    return win_flush(target_, log_);
  }

  RmaWindow& log_;
  const Rank target_;
  bool locked_ = false;
};

Status AccessLog::add(Rank target, std::span<const LoggedAccess> runs, bool strict, LoggedAccess* own,
                      LoggedAccess* other, bool* found) {
  Turn turn(*log_, target);
  ASHLAR_TRY(turn.begin());
  const std::size_t before = turn.table.size();
  *found = false;
  for (const LoggedAccess& run : runs) {
    for (std::size_t i = 0; i < before && !*found; ++i) {
      if (!conflict(run, turn.table[i], strict)) continue;
      *found = true;
      *own = run;
      *other = turn.table[i];
    }
    if (turn.table.size() < most_) {
      turn.table.push_back(run);
    } else if (turn.head.lost++ == 0) {
      ASHLAR_LOG(warn, "rma", "more accesses than check.rma_accesses (%llu) are not complete; the rest is not checked",
                 static_cast<unsigned long long>(most_));
    }
  }
  if (!runs.empty() && runs[0].updates()) ++turn.head.updates;
  return turn.store(before);
}

Status AccessLog::complete_passive(Rank target) {
  Turn turn(*log_, target);
  ASHLAR_TRY(turn.begin());
  const auto gone = std::erase_if(
      turn.table, [this](const LoggedAccess& access) { return access.passive && access.origin == log_->me; });
  return gone == 0 ? Status() : turn.store(0);
}

Status AccessLog::complete_active(LoggedAccess* first_update) {
  Turn turn(*log_, log_->me);
  ASHLAR_TRY(turn.begin());
  *first_update = {};
  const auto is_active = [](const LoggedAccess& access) { return !access.passive; };
  for (const LoggedAccess& access : turn.table)
    if (is_active(access) && access.updates() && first_update->end == 0) *first_update = access;
  return std::erase_if(turn.table, is_active) == 0 ? Status() : turn.store(0);
}

Status AccessLog::updates(std::uint64_t* count) {
  Turn turn(*log_, log_->me);
  ASHLAR_TRY(turn.begin());
  *count = turn.head.updates;
  return {};
}

}  // namespace ashlar::rma
