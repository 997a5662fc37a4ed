#include <time.h>

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

bool is_asleep(const Control& control, Sleep what, Rank rank) {
  return control.rank(rank).asleep[static_cast<std::size_t>(what)].load(std::memory_order_relaxed) != 0;
}

}  // namespace

void fence_others(const Control& control) {
  // What a store takes at most to leave the processor it was made on, by far.
  constexpr timespec kDrained{.tv_sec = 0, .tv_nsec = 1'000'000};
  if (control.header().fenced.load(std::memory_order_relaxed) != 0 || barrier_everywhere()) return;
  control.header().fenced.store(1, std::memory_order_seq_cst);
  nanosleep(&kDrained, nullptr);
  full_fence();
}

void wake_those_asleep(RmaWindow& window, const Control& control, Sleep what, bool lane_is_held) {
  for (Rank rank = 0; rank < window.ranks; ++rank)
    if (rank != window.me && is_asleep(control, what, rank)) wake(window, rank, lane_is_held);
}

void wake_if_asleep(RmaWindow& window, const Control& control, Sleep what, Rank rank) {
  if (rank != window.me && is_asleep(control, what, rank)) wake(window, rank);
}

void SharedCondition::announce() {
  announced_ = true;
  control.rank(window.me).asleep[static_cast<std::size_t>(what_)].fetch_add(1, std::memory_order_relaxed);
  sleepers_of(control, what_, target_).fetch_add(1, std::memory_order_relaxed);
  if (!barrier_everywhere()) control.header().fenced.store(1, std::memory_order_relaxed);
}

void SharedCondition::withdraw() {
  announced_ = false;
  control.rank(window.me).asleep[static_cast<std::size_t>(what_)].fetch_sub(1, std::memory_order_relaxed);
  sleepers_of(control, what_, target_).fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace ashlar::rma::shm
