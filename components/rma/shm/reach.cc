// Which way leads to each target's memory, and whether the processes of a window can use a control block.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "components/rma/shm/delegate.h"
#include "components/rma/shm/state.h"
#include "framework/base/clock.h"
#include "framework/base/failure.h"
#include "framework/plugin/records.h"
#include "framework/rma/cards.h"
#include "framework/rma/neighbours.h"
#include "framework/rma/range_gate.h"

namespace ashlar::rma::shm {
namespace {

/// Another process reads this word to find out whether it may; its address and contents travel in the card.
const std::uint64_t probe = 0x61736872'6d61726dull;

/// Proofs are kept: whether one process may copy another's memory does not change with the window.
struct Proofs {
  std::mutex mutex;
  std::map<std::pair<std::int32_t, std::uint64_t>, int> errors;  // by process and address of its probe; 0: it works
};
Proofs& proofs() {
  static auto* const known = new Proofs;
  return *known;
}

/// What a copy takes, which the first process that may be copied tells; 0: there was none.
std::atomic<std::uint64_t> copy_ns{0};
constexpr int kTimed = 5;

/// The fastest of a few: the first one may find cold caches, and the process may be preempted in any.
void time_copies(const Neighbour& process, const iovec& here, const iovec& there) {
  std::uint64_t least = UINT64_MAX, begun = now_ns();
  for (int i = 0; i < kTimed; ++i) {
    if (process_vm_readv(process.pid, &here, 1, &there, 1, 0) < 0) return;
    const std::uint64_t ended = now_ns();
    least = std::min(least, ended - begun);
    begun = ended;
  }
  copy_ns.store(std::max<std::uint64_t>(least, 1), std::memory_order_relaxed);
}

int prove(const Neighbour& process) {
  std::uint64_t seen = 0;
  const iovec here{&seen, sizeof seen};
  const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(process.probe)), sizeof seen};
  if (process_vm_readv(process.pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(sizeof seen)) return errno;
  if (seen != probe) return ESRCH;  // in another name space the number belongs to a stranger
  if (copy_ns.load(std::memory_order_relaxed) == 0) time_copies(process, here, there);
  return 0;
}

bool is_dynamic(const RmaWindow& window) { return window.create_flavor == MPI_WIN_FLAVOR_DYNAMIC; }

bool brings_memory(const RmaWindow& window) {
  return window.create_flavor == MPI_WIN_FLAVOR_ALLOCATE || window.create_flavor == MPI_WIN_FLAVOR_SHARED;
}

/// Whether this process has, or may attach, memory in the window that others cannot map.
bool has_far_memory(const RmaWindow& window) {
  return is_dynamic(window) ||
         (window.size != 0 && !memory::Heap::own().contains(window.base, static_cast<std::size_t>(window.size)));
}

/// Which way short puts and gets take where memory is copied.
void record_short_copies() {
  const std::uint64_t took = copy_ns.load(std::memory_order_relaxed);
  if (delegate_from() == 0 || took == 0) return;
  const bool slow = copies_are_slow();
  Engine::current().record({.topic = "rma",
                            .subject = "short puts and gets of memory that is copied",
                            .chosen = slow ? "offered to targets that wait, else copied" : "copied",
                            .because = "the system takes " + std::to_string(took) + " ns for a copy, " +
                                       (slow ? "longer" : "no longer") + " than rma.shm.slow_copy",
                            .lost = "",
                            .setting = "rma.shm.slow_copy"});
}

}  // namespace

Status copies_memory_of(const Neighbour& process) {
  const std::lock_guard guard(proofs().mutex);
  const auto [entry, is_new] = proofs().errors.try_emplace({process.pid, process.probe}, 0);
  if (is_new) entry->second = prove(process);
  if (entry->second == 0) return {};
  return fail(MPI_ERR_OTHER, "rma.copy_refused", {{"lower", std::strerror(entry->second)}});
}

bool copies_are_slow() { return copy_ns.load(std::memory_order_relaxed) > slow_copy_ns(); }

Status prepare(RmaWindow& window, Card& own) {
  auto* const state = new (std::nothrow) State(window);
  if (state == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "a window"}});
  window_state(window) = state;
  own.pid = getpid();
  own.probe = reinterpret_cast<std::uintptr_t>(&probe);
  free_retired_blocks();
  memory::Heap& heap = memory::Heap::own();
  // Without a heap there is no control block, and the window is synchronized otherwise.
  if (window.me == 0 &&
      heap.allocate(Control::bytes(static_cast<std::uint32_t>(window.ranks)), kCacheLine, true, &state->block).ok()) {
    own.control = reinterpret_cast<std::uintptr_t>(state->block);
    const Control control(static_cast<std::byte*>(state->block), static_cast<std::uint32_t>(window.ranks));
    control.header().central.store(wants_central(window) ? 1 : 0, std::memory_order_relaxed);
    control.header().limits = lock_limits();
  }
  if (!brings_memory(window)) prepare_offers();
  if (!is_dynamic(window)) return {};
  state->dynamic = std::make_unique<Dynamic>();
  static_cast<void>(make_room_for_regions(*state->dynamic));  // and so a heap, which the card names
  return {};
}

Status joins(RmaWindow& window, std::span<const Card> cards) {
  const Card& first = cards[0];
  for (const Card& card : cards)
    if (card.node != first.node) return fail(MPI_ERR_OTHER, "rma.several_nodes");
  if (first.control == 0) return fail(MPI_ERR_OTHER, "rma.no_block");
  const memory::MappedHeap* heap = nullptr;
  const auto ranks = static_cast<std::uint32_t>(window.ranks);
  ASHLAR_TRY(memory::map_heap(first.heap, &heap));
  std::byte* const block = heap->find(first.control, Control::bytes(ranks));
  if (block == nullptr) return fail(MPI_ERR_OTHER, "rma.no_block");
  // The regions of a dynamic window, and what lies in them, are reached alike by every process or by none.
  for (Rank rank = 0; is_dynamic(window) && rank < window.ranks; ++rank) {
    const Neighbour& process = neighbour_of(window, rank);
    ASHLAR_TRY(memory::map_heap(process.heap, &heap));
    if (rank != window.me) ASHLAR_TRY(copies_memory_of(process));
  }
  control_of(window) = Control(block, ranks);
  return {};
}

Status make_sync(RmaWindow& window, std::span<const Card> cards, Sync** out) {
  State& state = state_of(window);
  const Control& control = state.sync.control();
  if (is_dynamic(window)) state.dynamic->known.resize(cards.size());
  if (!Engine::current().fenced_by_others()) {
    for (Rank rank = 0; rank < window.ranks; ++rank) fence_updates({&control.target(rank).updates, 1});
    control.header().fenced.store(1, std::memory_order_relaxed);
  }
  if (window.me == 0) std::ranges::transform(cards, control.areas(), area_of);
  window.areas = control.areas();
  if (has_far_memory(window)) accept_offers(window, control);
  *out = &state.sync;
  return {};
}

namespace {

/// The target's guard, kept for the life of the window.
Guard& guard_of(RmaWindow& window, const Target& target) {
  return state_of(window).guards.emplace_front(window.sync->guard(target.rank));
}

}  // namespace

// Mapped memory is for all operations (Target::memory), so it is not taken for updates alone.
Status reach(RmaWindow& window, Target& target) {
  if (target.copies != nullptr) return fail(MPI_ERR_OTHER, "rma.copies_taken");
  const bool updates = target.updates == nullptr;
  const Neighbour& process = neighbour_of(window, target.rank);
  const bool synchronizes = static_cast<bool>(control_of(window)) && window.sync->name() == kSyncName;
  if (is_dynamic(window)) {
    if (!synchronizes) return fail(MPI_ERR_OTHER, "rma.sync_elsewhere");
    target.copies = &attached;
    if (updates) target.updates = &attached;
    target.state = &process;
    record_short_copies();
    return {};
  }
  const Status mapped_here = map_part(window, target.rank, &target.memory);
  if (mapped_here.ok()) {
    target.copies = &mapped;
    if (synchronizes && updates) {
      target.updates = &mapped;
      target.guard = &guard_of(window, target);
    }
    return target.updates != nullptr ? Status() : fail(MPI_ERR_OTHER, "rma.sync_elsewhere");
  }
  const Status may_copy = process.node == neighbour_of(window, window.me).node
                              ? copies_memory_of(process)
                              : fail(MPI_ERR_OTHER, "rma.several_nodes");
  if (!may_copy.ok())
    return fail(MPI_ERR_OTHER, "rma.out_of_reach", {{"mapped", mapped_here.text()}, {"copied", may_copy.text()}});
  target.copies = &copied;
  target.state = &process;
  record_short_copies();
  if (synchronizes && updates && !window.areas[target.rank].in_heap()) target.updates = &copied;
  return mapped_here;
}

void close(RmaWindow& window) {
  State* const state = static_cast<State*>(std::exchange(window_state(window), nullptr));
  if (state == nullptr) return;
  refuse_offers(window);
  memory::Heap& heap = memory::Heap::own();
  // A block that not every process could use is touched by none once they have agreed on that.
  Control& control = state->sync.control();
  if (window.sync == nullptr || window.sync->name() != kSyncName) control = {};
  if (state->block != nullptr)
    retire_block(state->block, control);
  else if (control)
    control.header().left.fetch_add(1, std::memory_order_release);
  if (state->dynamic != nullptr) {
    if (state->dynamic->regions != nullptr) heap.free(state->dynamic->regions);
    for (void* const old : state->dynamic->outgrown) heap.free(old);
  }
  delete state;
}

}  // namespace ashlar::rma::shm
