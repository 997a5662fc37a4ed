#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "components/rma/shm/state.h"
#include "framework/base/process_barrier.h"

namespace ashlar::rma::shm {

namespace {

struct RetiredBlock {
  void* block;
  Control control;  // empty: no other process has mapped it
};
struct Retired {
  std::mutex mutex;  // guards the rest
  std::vector<RetiredBlock> blocks;
};
/// Never destroyed: windows may end with the process.
Retired& retired() {
  static auto* const all = new Retired;
  return *all;
}

/// Frees the block if no process touches it any more.
bool free_if_left(const RetiredBlock& old) {
  const Control& control = old.control;
  if (control && control.header().left.load(std::memory_order_acquire) + 1 != control.ranks()) return false;
  memory::Heap::own().free(old.block);
  return true;
}

}  // namespace

void retire_block(void* block, const Control& control) {
  const std::lock_guard guard(retired().mutex);
  retired().blocks.push_back({.block = block, .control = control});
  std::erase_if(retired().blocks, free_if_left);
}

void free_retired_blocks() {
  const std::lock_guard guard(retired().mutex);
  std::erase_if(retired().blocks, free_if_left);
}

namespace {

/// The count that says whether anything sleeps for this.
std::atomic<std::uint32_t>& sleepers_of(const Control& control, Sleep what, Rank target) {
  return what == Sleep::kLock ? control.lock(target).sleepers
                              : control.header().sleepers[static_cast<std::size_t>(what)];
}

bool is_asleep(const Control& control, Sleep what, Rank rank) {
  return control.rank(rank).asleep[static_cast<std::size_t>(what)].load(std::memory_order_relaxed) != 0;
}

}  // namespace

void wake_sleepers(RmaWindow& window, const Control& control, Sleep what, Rank target) {
  full_fence();  // what was stored is seen by a sleeper's last look, or its announcement here
  if (sleepers_of(control, what, target).load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  for (Rank rank = 0; rank < window.ranks; ++rank)
    if (rank != window.me && is_asleep(control, what, rank)) wake(window, rank);
}

void wake_sleeper(RmaWindow& window, const Control& control, Rank rank) {
  full_fence();
  if (sleepers_of(control, Sleep::kPair, 0).load(std::memory_order_relaxed) == 0 || rank == window.me) [[likely]]
    return;
  if (is_asleep(control, Sleep::kPair, rank)) wake(window, rank);
}

void SharedCondition::announce() {
  control.rank(window.me).asleep[static_cast<std::size_t>(what_)].fetch_add(1, std::memory_order_relaxed);
  sleepers_of(control, what_, target_).fetch_add(1, std::memory_order_relaxed);
  full_fence();
}

void SharedCondition::withdraw() {
  control.rank(window.me).asleep[static_cast<std::size_t>(what_)].fetch_sub(1, std::memory_order_relaxed);
  sleepers_of(control, what_, target_).fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace ashlar::rma::shm
