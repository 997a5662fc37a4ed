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

/// A fact in memory that other processes bring about (a flag in a shared segment). A coroutine awaits it like a gate.
/// Trivial to destroy, so that it may live in a coroutine frame; it must outlive the wait.
struct Condition : Poller {
  /// Whether it holds. May be called many times, and may keep what it has found out so far.
  bool (*holds)(Condition&) = nullptr;
  /// Whether it may come about soon although the one who waits keeps his core. May be null: it cannot.
  bool (*soon)(Condition&) = nullptr;
  /// Called before the process may fall asleep over it, and before a last look: time to tell others to wake us.
  void (*before_sleep)(Condition&) = nullptr;
  Tag tag = 0;  // of the operation that waits; set when the wait begins
  // While a coroutine is suspended on it:
  Waiter* waiter = nullptr;  // queued when it holds, or when it cannot come about any more
  Wire* wire = nullptr;
  Status outcome;
};

/// What an operation posts its messages through: real point-to-point, or a simulation of thousands of ranks.
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
  /// Looks at the condition in every progress round, and queues its waiter when it holds.
  virtual void watch(Condition& condition) = 0;
  /// Makes the member look at memory that has changed, should it be asleep.
  virtual void wake(Rank member) = 0;
  /// Lets others have the core once, where ranks take turns on it.
  virtual void give_way() {}
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
