#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "framework/progress/lane.h"

namespace ashlar::progress {

/// Threads that make progress while the program computes (progress.thread): one for each lane, asleep until something
/// arrives, and out of the way while a thread of the program waits on that lane. Locks have to be real
/// (LaneLock::enable_threads) before the first one starts.
class Background {
 public:
  ~Background() { stop(); }
  /// Set-up path. Throws nothing: without threads the program goes on without them, and false says so. `dormant`: a
  /// thread sleeps until another process asks for progress, and for a while looks at what arrives from then on.
  bool start(std::span<Lane* const> lanes, bool dormant = false);
  /// Waits for the threads to end. Not with a lane's lock held.
  void stop();

 private:
  void run(Lane& lane);

  std::atomic<bool> stopping_{false};
  bool dormant_ = false;
  std::vector<Lane*> lanes_;
  std::vector<std::thread> threads_;
};

}  // namespace ashlar::progress
