#include "components/coll/shm/segment/publish.h"

#include <sched.h>

namespace ashlar::coll::shm {

void wake_announced(const Ticket& ticket) {
  for (std::uint32_t r = 0; r < ticket.ranks(); ++r) {
    if (r != ticket.me() && ticket.layout().rank(r).sleeping.load(std::memory_order_relaxed) != 0)
      ticket.member->wire.wake(static_cast<Rank>(r));
  }
}

void store_core(const Ticket& ticket) {
  ticket.member->state().core.store(static_cast<std::uint32_t>(sched_getcpu()), std::memory_order_relaxed);
}

}  // namespace ashlar::coll::shm
