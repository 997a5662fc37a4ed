#pragma once
#include <atomic>
#include <cstdint>
#include <span>

#include "framework/base/lane_lock.h"
#include "framework/base/process_barrier.h"
#include "framework/rma/guard.h"

/// The gate of a target's update line. It is open to updates of elements, which pass it without an atomic instruction
/// and without a fence, or closed for updates of ranges, which are made one at a time by loops that are not atomic
/// (decision 0071).
///
///                  a process closes it: fences all processes,
///                  waits until none of them updates an element
///          open  ----------------------------------------------->  held by a process
///           ^                                                        |           ^
///           |  an element update takes it                            | done:     | another range: one
///           +-------------------------------------  idle  <----------+ a store   | atomic instruction
///                                                    |                           |
///                                                    +---------------------------+
///
/// A gate that no update of elements waits for is left idle, closed but not held, so that a row of ranges pays for one
/// closing, whichever processes make them. A process never waits while it updates elements, nor while it holds the
/// gate, so nothing can wait in a circle.
///
/// While a process holds the gate no other stores to it, so that giving it up is a store and no atomic instruction.
/// What waits counts itself in words of its own, which the holder loads afterwards without a fence. It may miss a
/// process that has come just now: one that polls sees the gate by itself, one that sleeps has fenced all processes
/// first.
namespace ashlar::rma {

namespace gate {
// For good: updates of elements fence themselves, because a process cannot fence them.
inline constexpr std::uint32_t kFenced = 1u << 31;
inline constexpr std::uint32_t kIdle = 1u << 30;     // closed, and not held
inline constexpr std::uint32_t kHolder = kIdle - 1;  // number + 1 of the process that holds it
}  // namespace gate

/// Says for good that a process that updates these targets cannot be fenced by others (register_for_barriers): all
/// updates of their elements pass a fence of their own then. Called after the lines are zero, and before any process
/// updates anything.
void fence_updates(std::span<UpdateLine> lines);

/// Makes this process one that others can fence, or calls fence_updates(). Set-up path.
inline void join_updates(std::span<UpdateLine> lines) {
  if (!register_for_barriers()) fence_updates(lines);
}

/// From construction to destruction this process may update elements of the target, and no process updates a range.
class ElementTurn {
 public:
  explicit ElementTurn(const Guard& guard) : own_(guard.origins[guard.own]), threads_(LaneLock::threads_on()) {
    announce();
    if ((guard.line->gate.load(std::memory_order_acquire) | own_.awaited.load(std::memory_order_relaxed)) != 0)
        [[unlikely]]
      pass(*guard.line);
  }
  ~ElementTurn() { retract(); }
  ElementTurn(const ElementTurn&) = delete;
  ElementTurn& operator=(const ElementTurn&) = delete;

 private:
  // The process that closes the gate fences this one between the store and the next load; the compiler must not swap
  // them.
  void announce() {
    if (threads_) {
      own_.updating.fetch_add(1, std::memory_order_seq_cst);
    } else {
      own_.updating.store(1, std::memory_order_relaxed);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void retract() {
    if (threads_) {
      own_.updating.fetch_sub(1, std::memory_order_release);
    } else {
      own_.updating.store(0, std::memory_order_release);
    }
  }
  void pass(UpdateLine& line);
  void hold_back();

  OriginLine& own_;
  const bool threads_;
};

/// From construction to destruction this process is the only one that updates the target's aligned elements.
class RangeTurn {
 public:
  explicit RangeTurn(const Guard& guard) : guard_(guard) { close(); }
  explicit RangeTurn(Guard&&) = delete;  // it refers to the guard
  ~RangeTurn() { open(); }
  RangeTurn(const RangeTurn&) = delete;
  RangeTurn& operator=(const RangeTurn&) = delete;

  /// Between two pieces of a range: lets others that wait have their turn.
  void give_way();
  /// Whether the gate is closed already, so that a range costs next to nothing.
  static bool cheap(const Guard& guard) {
    return (guard.line->gate.load(std::memory_order_relaxed) & gate::kIdle) != 0;
  }

 private:
  void close();
  void open();
  void drain(std::uint32_t flags);

  const Guard& guard_;
};

}  // namespace ashlar::rma
