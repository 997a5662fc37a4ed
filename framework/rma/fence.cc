// Epochs in general, and MPI_Win_fence.
#include <mpi.h>

#include <atomic>
#include <cstdio>

#include "framework/base/failure.h"
#include "framework/rma/api.h"
#include "framework/rma/check.h"
#include "framework/rma/epochs.h"
#include "framework/rma/ways.h"

namespace ashlar::rma {
namespace {

const char* name_of(AccessEpoch epoch) {
  switch (epoch) {
    case AccessEpoch::kNone:
      return "no access epoch is open";
    case AccessEpoch::kFence:
      return "an epoch of MPI_Win_fence is open";
    case AccessEpoch::kStart:
      return "an epoch of MPI_Win_start is open";
    case AccessEpoch::kLock:
      return "an epoch of MPI_Win_lock is open";
    case AccessEpoch::kLockAll:
      return "an epoch of MPI_Win_lock_all is open";
  }
  return "";
}

}  // namespace

Status wrong_epoch(const RmaWindow& window, const char* wanted) {
  const bool posted = window.epochs.exposure == ExposureEpoch::kPost;
  return fail(MPI_ERR_RMA_SYNC, "rma.wrong_epoch",
              {{"window", window.label()},
               {"wanted", wanted},
               {"state", name_of(window.epochs.access)},
               {"exposure", posted ? ", and one of MPI_Win_post" : ""},
               {"last", window.epochs.last}});
}

Status bad_assert(int assert, const char* names) {
  return fail(MPI_ERR_ASSERT, "rma.assert", {{"argument", "assert"}, {"value", assert}, {"wanted", names}});
}

void leave_fence(RmaWindow& window) {
  window.open_to_all.store(false, std::memory_order_relaxed);
  window.epochs.access = AccessEpoch::kNone;
  window.epochs.exposure = ExposureEpoch::kNone;
}

Status win_fence(int assert, Window& win) {
  RmaWindow& window = of(win);
  ASHLAR_TRY(check_assert(assert, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED,
                          "MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED"));
  if ((window.epochs.access != AccessEpoch::kNone && window.epochs.access != AccessEpoch::kFence) ||
      !exposes_nothing(window))
    return wrong_epoch(window, "no epoch of another kind to be open");
  const bool succeeds = (assert& MPI_MODE_NOSUCCEED) == 0;
  // Without operations before it a fence need not synchronize, but then those after it could overtake the stores that a
  // slower process makes before its own fence. Only one with nothing on either side does nothing.
  const bool checks = window.check != nullptr;
  Status checked;
  if (checks) [[unlikely]]
    checked = window.check->begin_fence(assert);
  if ((assert& MPI_MODE_NOPRECEDE) == 0) ASHLAR_TRY(flush_all("MPI_Win_fence", window, true));
  if ((assert& MPI_MODE_NOPRECEDE) == 0 || succeeds || checks) ASHLAR_TRY(window.sync->barrier("MPI_Win_fence"));
  if (checks) [[unlikely]] {
    const Status ended = window.check->end_fence(assert);
    if (checked.ok()) checked = ended;
  }
  window.open_to_all.store(false, std::memory_order_relaxed);
  window.epochs.access = succeeds ? AccessEpoch::kFence : AccessEpoch::kNone;
  window.epochs.exposure = succeeds ? ExposureEpoch::kFence : ExposureEpoch::kNone;
  window.epochs.last = succeeds ? "MPI_Win_fence" : "MPI_Win_fence with MPI_MODE_NOSUCCEED";
  return checked;
}

}  // namespace ashlar::rma
