#pragma once
#include <cstdint>

#include "framework/base/thread_annotations.h"
#include "framework/progress/lane.h"

namespace ashlar::progress {

/// The stages of one wait: spin, then yield the core, then sleep until a transport or another thread raises the lane.
/// Used by wait(); separate so that the part behind an empty round is one out-of-line call.
class Waiting {
 public:
  explicit Waiting(Lane& lane) : lane_(lane) {}
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// After a round that handled `events`. May give up the lock between, yield the core, or sleep.
  void pause(unsigned events) ASHLAR_REQUIRES(lane_.lock);

 private:
  void yield() ASHLAR_REQUIRES(lane_.lock);
  void sleep() ASHLAR_REQUIRES(lane_.lock);

  Lane& lane_;
  std::uint32_t empty_rounds_ = 0;
  std::uint64_t since_ = 0;  // when yielding began; 0: still spinning
};

/// Makes progress until done() holds. `done` is called under the lane's lock, which the caller holds; the lock is given
/// up between rounds, so other threads get on. Blocks.
template <class Done>
void wait(Lane& lane, Done done) ASHLAR_REQUIRES(lane.lock) {
  if (done()) return;
  Waiting waiting(lane);
  for (;;) {
    const unsigned events = poll(lane);
    if (done()) return;
    waiting.pause(events);
    if (done()) return;
  }
}

}  // namespace ashlar::progress
