#pragma once
#include <cstdint>
#include <forward_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "components/rma/shm/control.h"
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

/// What the component has of one window in this process: small, for there may be thousands.
struct State {
  void* block = nullptr;             // of rank 0: the control block, in its own heap
  Control control;                   // mapped once the cards are there; empty: other components synchronize the window
  std::forward_list<Guard> guards;   // of the targets that are used
  std::unique_ptr<Dynamic> dynamic;  // nullptr: the window is not
};

inline constexpr char kSyncName[] = "shared";

/// Whether the window's barrier is the central one (parameter rma.shm.barrier).
bool wants_central(const RmaWindow& window);

/// Parameters rma.shm.lock_again and rma.shm.lock_bias.
struct LockLimits {
  std::uint32_t again = 0;            // times that a writer may come back, past those that wait
  std::uint32_t bias_after = kNever;  // shared locks in a row from which on readers go without a ticket
  static constexpr std::uint32_t kNever = UINT32_MAX;
};
LockLimits lock_limits();

/// The component's place in the window, and what lies there.
void*& window_state(RmaWindow& window);
inline State& state_of(RmaWindow& window) { return *static_cast<State*>(window_state(window)); }

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

/// Wakes the processes that have announced that they sleep for this; kLock: the lock of `target`. Called after storing
/// what they may wait for.
void wake_sleepers(RmaWindow& window, const Control& control, Sleep what, Rank target = 0);
/// The same of the one process that may sleep for it; not of kLock.
void wake_sleeper(RmaWindow& window, const Control& control, Sleep what, Rank rank);

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
  SharedSync(RmaWindow& window, const Control& control, const LockLimits& limits)
      : window_(window),
        control_(control),
        limits_(limits),
        ranges_(RangeLimits::of(Engine::current().config.get().range_elements, window.hints.granularity)) {}
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
  void unlock_exclusive(LockLine& line, Target& target);
  [[gnu::noinline]] Status wait_for_turn(LockLine& line, Rank target, std::uint32_t ticket);
  [[gnu::noinline]] Status wait_for_lock_alls();
  [[gnu::noinline]] bool leave_open(LockLine& line, Target& target);
  bool take_again(LockLine& line, Target& target);
  bool claim(LockLine& line);
  Status let_guests_go(LockLine& line, Rank target, bool* counted);
  bool share_by_line(LockLine& line, Target& target);
  bool others_wait(const LockLine& line) const;
  bool is_biased(std::uint32_t shared_in_row) const { return shared_in_row >= limits_.bias_after; }
  std::uint32_t as_holder() const { return static_cast<std::uint32_t>(window_.me) + 1; }
  Status central_barrier(const char* call);

  RmaWindow& window_;
  const Control control_;
  const LockLimits limits_;
  const RangeLimits ranges_;
};

/// `copied` and `attached`: Target::state is the target's Neighbour.
extern const Way mapped, copied, attached;
inline const Neighbour& owner_of(const Target& target) { return *static_cast<const Neighbour*>(target.state); }

/// Dynamic windows: publishes `window.regions` (Component::attached).
Status publish_regions(RmaWindow& window);

}  // namespace ashlar::rma::shm
