#pragma once
#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/progress/gate.h"

namespace ashlar {
struct DataView;
struct Lane;
}  // namespace ashlar

namespace ashlar::coll {

class Wire;

/// A state of memory that other processes bring about (a flag in a shared segment). A coroutine awaits it like a gate.
/// Trivial to destroy, so that it may live in a coroutine frame; it must outlive the wait.
struct Condition : Poller {
  /// Whether it holds. May be called many times, and may keep the part that it has seen to hold.
  bool (*holds)(Condition&) = nullptr;
  /// Whether it may come to hold soon although the waiting rank keeps its core. May be null: it cannot.
  bool (*soon)(Condition&) = nullptr;
  /// Called before the process may sleep, and before the last poll: here the waiter asks others to wake it.
  void (*before_sleep)(Condition&) = nullptr;
  Tag tag = 0;  // of the operation that waits; set when the wait begins
  // While a coroutine is suspended on it:
  Waiter* waiter = nullptr;  // queued when it holds, or when it cannot come to hold any more
  Wire* wire = nullptr;
  Status outcome;
};

/// The interface through which an operation posts its messages: point-to-point, or a simulation of thousands of ranks.
/// A wire belongs to one member of one group; ranks are that group's. Every call is made under the lane's lock.
class Wire {
 public:
  explicit Wire(Lane* lane) : lane_(lane) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Start a message. A returned failure is immediate; ok: finished, or counted on `gate`, which takes the outcome.
  /// Messages of one pair and tag match in the order of the posts. Buffers live until then. Never block.
  virtual Status send(Rank to, const DataView& data, Tag tag, Gate& gate) = 0;
  virtual Status recv(Rank from, const DataView& data, Tag tag, Gate& gate) = 0;
  /// Gives up the receives counted on `gate` that nothing has matched, because the operation has failed.
  virtual void abandon(Gate&) {}
  /// Progress until the gate is open, or the condition holds. Block.
  virtual void wait(Gate& gate) = 0;
  /// Fails when a member of the group is gone: a flag would then never come.
  virtual Status wait(Condition& condition) = 0;
  /// Polls the condition in every progress round, and queues its waiter when it holds.
  virtual void watch(Condition& condition) = 0;
  /// Wakes the member, should it sleep, because memory that it polls has changed.
  virtual void wake(Rank member) = 0;
  /// Yields the core once, where ranks share it.
  virtual void give_way() {}
  /// A member's rank in the group that the program knows, of which this group may be a part.
  virtual Rank rank_in_whole(Rank member) const { return member; }
  /// Ok while no member of the group is known to be gone, or to have failed in the operation with this tag.
  virtual Status can_go_on(Tag tag) = 0;

  /// Where waiters are queued.
  Lane* lane() const { return lane_; }

 protected:
  ~Wire() = default;

 private:
  Lane* const lane_;
};

}  // namespace ashlar::coll
