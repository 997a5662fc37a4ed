#include <atomic>

#include "components/rma/shm/state.h"
#include "framework/base/process_barrier.h"

namespace ashlar::rma::shm {

void wake_sleepers(RmaWindow& window, const Control& control) {
  full_fence();  // what was stored is seen by a sleeper's last look, or its announcement here
  if (control.header().sleepers.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  for (Rank rank = 0; rank < window.ranks; ++rank)
    if (rank != window.me && control.rank(rank).asleep.load(std::memory_order_relaxed) != 0) wake(window, rank);
}

void wake_sleeper(RmaWindow& window, const Control& control, Rank rank) {
  full_fence();
  if (control.header().sleepers.load(std::memory_order_relaxed) == 0 || rank == window.me) [[likely]]
    return;
  if (control.rank(rank).asleep.load(std::memory_order_relaxed) != 0) wake(window, rank);
}

void SharedCondition::announce() {
  control.rank(window.me).asleep.fetch_add(1, std::memory_order_relaxed);
  control.header().sleepers.fetch_add(1, std::memory_order_relaxed);
  full_fence();
}

void SharedCondition::withdraw() {
  control.rank(window.me).asleep.fetch_sub(1, std::memory_order_relaxed);
  control.header().sleepers.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace ashlar::rma::shm
