#include <mpi.h>

#include "framework/base/failure.h"
#include "framework/object/attribute_api.h"
#include "framework/rma/api.h"
#include "framework/rma/create.h"
#include "framework/rma/epochs.h"
#include "framework/rma/ways.h"

namespace ashlar::rma {

// It returns when all processes have called it, and every one has completed its own operations before: so no access to
// this process's memory is under way any more. With no_locks the calls of active target synchronization have seen to
// that already, but the memory of other processes that this one allocated must stay until they are done with it, and
// programs break the promise (lock.cc).
Status win_free(Window** win) {
  RmaWindow& window = of(**win);
  if (!accesses_nothing(window) || !exposes_nothing(window)) return wrong_epoch(window, "every epoch to be closed");
  ASHLAR_TRY(attribute::delete_all(window));
  const Status flushed = flush_all("MPI_Win_free", window, true);
  const Status met = window.sync->barrier("MPI_Win_free");
  unmake(&window);
  *win = nullptr;
  return flushed.ok() ? met : flushed;
}

}  // namespace ashlar::rma
