#pragma once
#include <cstdint>

#include "framework/base/types.h"
#include "framework/progress/lane.h"

namespace ashlar {
class RmaWindow;
}
namespace ashlar::rma {

/// While it exists, the background thread of a target that does not answer is woken (rma.progress): after
/// rma.patience, and then again after pauses that grow. Under the lane's lock.
class TargetWaker : private Poller {
 public:
  TargetWaker(RmaWindow& window, Rank target);
  ~TargetWaker();
  TargetWaker(const TargetWaker&) = delete;
  TargetWaker& operator=(const TargetWaker&) = delete;

 private:
  static bool look(Poller& poller);
  void wake();

  RmaWindow& window_;
  Lane& lane_;
  const Rank target_;
  std::uint64_t pause_;     // ns until it is woken once more
  std::uint64_t next_;      // when
  std::uint64_t said_ = 0;  // the last value that this object has given to Lane::look_again
};

}  // namespace ashlar::rma
