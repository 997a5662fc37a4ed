#pragma once
#include <cstdint>

#include "framework/base/list.h"
#include "framework/base/status.h"

namespace ashlar {

struct Lane;

/// Something that the progress loop runs once, when it has been put on its lane's ready list.
struct Waiter : ListHook {
  void (*run)(Waiter&) = nullptr;
  Lane* lane = nullptr;  // set before the waiter is given to a gate
};

/// Counts outstanding operations. At zero its waiter is queued, and only the progress loop runs it: the code that
/// finishes the last operation is never inside the waiter's. Guarded by the lane's lock. Trivial to destroy, so it may
/// live in a coroutine frame; it must outlive its operations.
class Gate {
 public:
  /// One more operation is on its way.
  void add() { ++outstanding_; }
  /// One has finished; the first failure is kept.
  inline void arrive(Status outcome);
  bool open() const { return outstanding_ == 0; }
  int outstanding() const { return outstanding_; }
  /// The first failure, or ok. Final when open.
  Status status() const { return status_; }
  /// Puts `waiter` on its lane's ready list when the gate opens; the gate must not be open.
  void on_open(Waiter& waiter) { waiter_ = &waiter; }
  /// Forgets the failure, for another round.
  void reset() { status_ = Status{}; }

 private:
  std::int32_t outstanding_ = 0;
  Status status_;
  Waiter* waiter_ = nullptr;
};

/// Something that is looked at in every progress round, because it is signalled through memory and not by a message.
/// The code that sets such a flag calls the endpoint's wake().
struct Poller : ListHook {
  bool (*poll)(Poller&) = nullptr;  // whether it got on
};

namespace progress {
/// Queues `waiter` for the next progress round of its lane.
void make_ready(Waiter& waiter);
}  // namespace progress

inline void Gate::arrive(Status outcome) {
  if (!outcome.ok() && status_.ok()) [[unlikely]]
    status_ = outcome;
  if (--outstanding_ == 0 && waiter_ != nullptr) {
    Waiter* const waiter = waiter_;
    waiter_ = nullptr;
    progress::make_ready(*waiter);
  }
}

}  // namespace ashlar
