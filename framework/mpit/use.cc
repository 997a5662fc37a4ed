#include "framework/mpit/use.h"

#include <algorithm>
#include <mutex>

#include "framework/base/event.h"
#include "framework/mpit/api.h"
#include "framework/mpit/cvars.h"
#include "framework/mpit/ending.h"
#include "framework/mpit/limits.h"
#include "framework/mpit/no_memory.h"
#include "framework/mpit/pvars.h"

namespace ashlar::mpit {

constinit std::atomic<int> uses{0};

namespace {

constinit std::mutex mutex;  // held while the interface begins or ends

}  // namespace

int init_thread(int required, int* provided) {
  const bool known = required == MPI_THREAD_SINGLE || required == MPI_THREAD_FUNNELED ||
                     required == MPI_THREAD_SERIALIZED || required == MPI_THREAD_MULTIPLE;
  if (!known) return MPI_T_ERR_INVALID;
  return or_no_memory([&] {
    const std::lock_guard guard(mutex);
    // The lists are read here rather than in the first call that needs them, so that the later ones cost no file.
    (void)cvars().size();
    (void)pvars().size();
    event::set_queue_capacity(limits().event_queue);
    uses.fetch_add(1, std::memory_order_release);
    *provided = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
  });
}

int finalize() {
  const std::lock_guard guard(mutex);
  if (uses.load() == 0) return MPI_T_ERR_NOT_INITIALIZED;
  if (uses.fetch_sub(1) > 1) return MPI_SUCCESS;
  end_cvar_handles();
  end_pvar_sessions();
  end_registrations();
  return MPI_SUCCESS;
}

Config limits() { return cvars().limits(); }

}  // namespace ashlar::mpit
