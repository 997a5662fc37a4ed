#pragma once
#include <cstdint>
#include <forward_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "components/rma/shm/control.h"
#include "framework/base/process_barrier.h"
#include "framework/memory/heap.h"
#include "framework/rma/component.h"
#include "framework/rma/engine.h"
#include "framework/rma/guard.h"
#include "framework/rma/sync.h"
#include "framework/rma/waiting.h"
#include "framework/rma/window.h"

namespace ashlar::rma::shm {

/// What the component keeps of one target of a dynamic window: its regions as last read.
struct KnownRegions {
  std::uint32_t version = 0;
  std::vector<Region> regions;  // by address
};

/// What it has of a dynamic window.
struct Dynamic {
  std::vector<KnownRegions> known;  // by target
  std::mutex reading;               // guards them
  void* regions = nullptr;          // this process's, in its heap: what `RankLine::regions` leads to
  std::uint64_t room = 0;           // regions that fit there
  std::vector<void*> outgrown;      // smaller ones, which others may still be reading; freed with the window
};

inline constexpr char kSyncName[] = "shared";

/// Whether the window's barrier is the central one (parameter rma.shm.barrier).
bool wants_central(const RmaWindow& window);

LockLimits lock_limits();

// Component's functions (framework/rma/component.h).
Status prepare(RmaWindow& window, Card& own);
Status joins(RmaWindow& window, std::span<const Card> cards);
Status make_sync(RmaWindow& window, std::span<const Card> cards, Sync** out);
Status reach(RmaWindow& window, Target& target);
void close(RmaWindow& window);

/// Rank 0 has left the window of this block. Others may still be on their way out of its last barrier, so it is freed
/// when they have left as well, at the latest by the next calls of these functions.
void retire_block(void* block, const Control& control);
void free_retired_blocks();

/// Of a dynamic window: room for the first regions, in the heap.
Status make_room_for_regions(Dynamic& dynamic);

/// Succeeds if this process can read and write the memory of the target with process_vm_readv and process_vm_writev;
/// tried once for each process.
Status copies_memory_of(const Neighbour& process);
/// Whether such a copy takes longer than an offer to a target that waits (delegate.h): what a call of the system costs
/// differs by a factor of four between machines.
bool copies_are_slow();
/// Parameter rma.shm.slow_copy.
std::uint64_t slow_copy_ns();

/// Of a process that has stored a word and looks at another's next: that one, which stores its own and fences all
/// processes before it looks here (decision 0022), sees the one or is seen. So this costs nothing where the system lets
/// processes fence others.
inline void order_with_others(const ControlHeader& header) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (header.fenced.load(std::memory_order_relaxed) != 0) [[unlikely]]
    full_fence();
}
inline void order_with_others(const Control& control) { order_with_others(control.header()); }
/// The other side of it. Where a filter has forbidden that since, everybody fences itself from now on.
void fence_others(const Control& control);

/// The count that says whether anything sleeps for this.
inline std::atomic<std::uint32_t>& sleepers_of(const Control& control, Sleep what, Rank target) {
  return what == Sleep::kLock ? control.lock(target).sleepers : control.header().sleepers_for(what);
}
[[gnu::cold]] void wake_those_asleep(RmaWindow& window, const Control& control, Sleep what, bool lane_is_held);
[[gnu::cold]] void wake_if_asleep(RmaWindow& window, const Control& control, Sleep what, Rank rank);

/// Wakes the processes that have announced that they sleep for this; kLock: the lock of `target`. Called after storing
/// what they may wait for. A process that sleeps fences others before; one for which the system forbids that from some
/// time on misses at most one call to wake up: its sleep is bounded. `lane_is_held`: of a condition, which says so.
inline void wake_sleepers(RmaWindow& window, const Control& control, Sleep what, Rank target = 0,
                          bool lane_is_held = false) {
  order_with_others(control);
  if (sleepers_of(control, what, target).load(std::memory_order_relaxed) != 0) [[unlikely]]
    wake_those_asleep(window, control, what, lane_is_held);
}
/// The same of the one process that may sleep for it; not of kLock.
inline void wake_sleeper(RmaWindow& window, const Control& control, Sleep what, Rank rank) {
  order_with_others(control);
  if (sleepers_of(control, what, 0).load(std::memory_order_relaxed) != 0) [[unlikely]]
    wake_if_asleep(window, control, what, rank);
}

/// A condition whose waiter announces itself in its origin line.
class SharedCondition : public Condition {
 public:
  /// kLock: of the lock of `target`. `call`: the user's.
  SharedCondition(RmaWindow& of, const Control& block, const char* call, Sleep what, Rank target = 0)
      : window(of), control(block), call_(call), what_(what), target_(target) {}
  const char* call() const final { return call_; }
  void announce() final;
  void withdraw() final;

 protected:
  ~SharedCondition() = default;
  /// This look may be the last one before the process sleeps.
  bool announced() const { return announced_; }
  RmaWindow& window;
  const Control& control;

 private:
  const char* const call_;
  const Sleep what_;
  const Rank target_;
  bool announced_ = false;
};

/// Sync over the control block.
class SharedSync final : public Sync {
 public:
  explicit SharedSync(RmaWindow& window, const Control& control = {}) : window_(window), control_(control) {}
  /// Empty until the block is mapped, and where other components synchronize the window.
  Control& control() { return control_; }
  const char* name() const override { return kSyncName; }
  Status barrier(const char* call) override;
  Status post(std::span<const Rank> origins, bool no_check) override;
  Status start(std::span<const Rank> targets, bool no_check) override;
  Status complete(std::span<const Rank> targets) override;
  Status exposure_over(std::span<const Rank> origins, bool wait, bool* over) override;
  Status lock(Target& target, bool exclusive) override;
  Status unlock(Target& target, bool exclusive) override;
  Status lock_all() override;
  Status unlock_all() override;
  Guard guard(Rank target) override;

 private:
  Status lock_exclusive(LockLine& line, Target& target);
  Status lock_shared(LockLine& line, Target& target);
  Status lock_as_guest(LockLine& line, Target& target);
  [[gnu::noinline]] Status wait_for_turn(LockLine& line, Rank target, std::uint32_t ticket);
  [[gnu::noinline]] Status wait_for_lock_alls();
  bool may_come_back(LockLine& line) const;
  Status hand_over(LockLine& line, Target& target);
  Status leave_open(LockLine& line, Target& target);
  [[gnu::noinline]] Status unlock_beside_others(LockLine& line, Target& target);
  [[gnu::noinline]] Status held_again(LockLine& line, const Target& target);
  [[gnu::noinline]] Status unlock_shared(LockLine& line, const Target& target);
  [[gnu::cold, gnu::noinline]] Status wake_behind_writer(const Target& target);
  [[gnu::cold, gnu::noinline]] Status wake_behind_reader(const Target& target);
  bool take_again(LockLine& line);
  static bool others_queue(const LockLine& line);
  bool claim(LockLine& line);
  Status let_guests_go(LockLine& line, Rank target, bool* counted);
  bool share_by_line(const LockLine& line, Target& target);
  bool others_wait(const LockLine& line) const;
  bool is_biased(std::uint32_t shared_in_row) const { return shared_in_row >= limits().bias_after; }
  std::uint32_t as_holder() const { return static_cast<std::uint32_t>(window_.me) + 1; }
  Status central_barrier(const char* call);

  const LockLimits& limits() const { return control_.header().limits; }

  RmaWindow& window_;
  Control control_;
};

/// What the component has of one window in this process: small, for there may be thousands.
struct State {
  explicit State(RmaWindow& window) : sync(window) {}
  SharedSync sync;
  void* block = nullptr;             // of rank 0: the control block, in its own heap
  std::forward_list<Guard> guards;   // of the targets that are used
  std::unique_ptr<Dynamic> dynamic;  // nullptr: the window is not
};
static_assert(sizeof(State) <= 56);  // what the C library's allocator gives for 64

/// The component's place in the window, and what lies there.
void*& window_state(RmaWindow& window);
inline State& state_of(RmaWindow& window) { return *static_cast<State*>(window_state(window)); }
inline Control& control_of(RmaWindow& window) { return state_of(window).sync.control(); }

/// `copied` and `attached`: Target::state is the target's Neighbour.
extern const Way mapped, copied, attached;
inline const Neighbour& owner_of(const Target& target) { return *static_cast<const Neighbour*>(target.state); }

/// Dynamic windows: publishes `window.regions` (Component::attached).
Status publish_regions(RmaWindow& window);

}  // namespace ashlar::rma::shm
