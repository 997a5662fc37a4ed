#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "components/rma/am/channel.h"
#include "components/rma/am/params.h"
#include "framework/base/counter.h"
#include "framework/base/status.h"
#include "framework/rma/sync.h"
#include "framework/rma/window.h"
#include "framework/rma/wire.h"

namespace ashlar::rma::am {

/// Performance variables rma.am.*, of one window. Written under the lane's lock.
struct Counters {
  Counter operations, fragments, fragment_bytes, answers, served, stalls, full, queued;
};

/// What this component knows of a window. Guarded by the lane's lock.
struct AmWindow final : WindowReceiver {
  AmWindow(RmaWindow& of, const Config& parameters);
  /// Of a window that prepare() has seen.
  static AmWindow& of(RmaWindow& window) { return static_cast<AmWindow&>(window.wire->receiver()); }

  void deliver(const WindowMessage& message) override;
  void peer_failed(Rank rank) override;

  WindowWire& wire() { return *window.wire; }
  /// nullptr: no memory.
  Channel* channel(Rank rank);
  Status channel(Rank rank, Channel** out);
  /// Waits until the operations toward that process are complete, and reports what has failed. Gives up the lock
  /// meanwhile. `call` as of WindowWire::wait().
  Status flush(Channel& channel, bool remote, const char* call = nullptr);

  RmaWindow& window;
  const Config& config;
  Counters counters;
  std::vector<std::unique_ptr<Channel>> channels;  // [ranks]
  std::unique_ptr<Sync> sync;                      // where messages synchronize the window
  LockQueue locks[kLocks];  // of this process's memory; at rank 0, of lock_all against exclusive locks
  /// Memory for a handler, aligned for every element; nullptr: there is none.
  std::byte* scratch(std::size_t bytes);

 private:
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t scratch_bytes_ = 0;

  void take_lock(Channel& from, const LockRequest& request);
  void take_unlock(Channel& from, const LockRequest& request);
  void leave(LockEntry& entry, WhichLock which);
};

/// Executes a fragment on this process's memory, and answers it as it asks for.
void serve(AmWindow& window, Channel& from, const Word& word, std::span<const std::byte> payload);

}  // namespace ashlar::rma::am
