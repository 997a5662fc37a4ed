#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "components/rma/shm/control.h"
#include "framework/memory/heap.h"
#include "framework/rma/component.h"
#include "framework/rma/engine.h"
#include "framework/rma/sync.h"
#include "framework/rma/waiting.h"
#include "framework/rma/window.h"

namespace ashlar::rma::shm {

/// What the component keeps of one target of a dynamic window: its regions as last read.
struct KnownRegions {
  std::uint32_t version = 0;
  std::vector<Region> regions;  // by address
};

/// What the component has of one window in this process.
struct State {
  void* block = nullptr;     // of rank 0: the control block, in its own heap
  Control control;           // mapped once the cards are there; empty: other components synchronize the window
  std::uint32_t rounds = 0;  // of barriers that this process has come to
  // PSCW: epochs that this process has had with each rank.
  std::vector<std::uint32_t> started;  // as an origin
  std::vector<std::uint32_t> posted;   // as a target
  std::vector<Guard> guards;           // by target
  std::vector<std::uint8_t> guest;     // by target: whether its lock is held without a ticket
  std::vector<KnownRegions> known;     // dynamic windows alone
  std::mutex reading;                  // guards `known`
  void* regions = nullptr;             // this process's, in its heap: what `RankLine::regions` leads to
  std::uint64_t room = 0;              // regions that fit there
  std::vector<void*> outgrown;         // smaller ones, which others may still be reading; freed with the window
};

inline constexpr char kSyncName[] = "shared";

/// The component's place in the window, and what lies there.
void*& window_state(RmaWindow& window);
inline State& state_of(RmaWindow& window) { return *static_cast<State*>(window_state(window)); }

// Component's functions (framework/rma/component.h).
Status prepare(RmaWindow& window, Card& own);
Status joins(RmaWindow& window);
Status make_sync(RmaWindow& window, Sync** out);
Status reach(RmaWindow& window, Target& target);
void close(RmaWindow& window);

/// Rank 0 has left the window of this block. Others may still be on their way out of its last barrier, so it is freed
/// when they have left as well, at the latest by the next calls of these functions.
void retire_block(void* block, const Control& control);
void free_retired_blocks();

/// Of a dynamic window: room for the first regions, in the heap.
Status make_room_for_regions(State& state);

/// Succeeds if this process can read and write the memory of the target with process_vm_readv and process_vm_writev;
/// tried once for each process.
Status copies_memory_of(const Card& card);

/// Wakes the processes that have announced that they sleep for this; kLock: the lock of `target`. Called after storing
/// what they may wait for.
void wake_sleepers(RmaWindow& window, const Control& control, Sleep what, Rank target = 0);
void wake_sleeper(RmaWindow& window, const Control& control, Rank rank);

/// A condition whose waiter announces itself in its rank line.
class SharedCondition : public Condition {
 public:
  /// kLock: of the lock of `target`.
  SharedCondition(RmaWindow& of, const Control& block, Sleep what, Rank target = 0)
      : window(of), control(block), what_(what), target_(target) {}
  void announce() final;
  void withdraw() final;

 protected:
  ~SharedCondition() = default;
  RmaWindow& window;
  const Control& control;

 private:
  const Sleep what_;
  const Rank target_;
};

/// Sync over the control block.
class SharedSync final : public Sync {
 public:
  SharedSync(RmaWindow& window, State& state)
      : window_(window),
        state_(state),
        control_(state.control),
        ranges_(RangeLimits::of(Engine::current().config.range_elements, window.hints.granularity)) {}
  const char* name() const override { return kSyncName; }
  Status barrier() override;
  Status post(std::span<const Rank> origins, bool no_check) override;
  Status start(std::span<const Rank> targets, bool no_check) override;
  Status complete(std::span<const Rank> targets) override;
  Status exposure_over(std::span<const Rank> origins, bool wait, bool* over) override;
  Status lock(Target& target, bool exclusive) override;
  Status unlock(Target& target, bool exclusive) override;
  Status lock_all() override;
  Status unlock_all() override;
  Guard guard(const Target& target) override;

 private:
  Status lock_exclusive(LockLine& line, Rank target, std::uint32_t ticket);
  Status lock_shared(LockLine& line, Rank target, std::uint32_t ticket);
  Status lock_as_guest(LockLine& line, Rank target);
  void unlock_exclusive(LockLine& line, Rank target);
  bool others_wait(const LockLine& line) const;
  Status central_barrier();

  RmaWindow& window_;
  State& state_;
  const Control control_;
  const RangeLimits ranges_;
};

extern const Way mapped, copied, attached;

/// Dynamic windows: publishes `window.regions` (Component::attached).
Status publish_regions(RmaWindow& window);

}  // namespace ashlar::rma::shm
