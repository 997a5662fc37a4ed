#include "framework/rma/target_waker.h"

#include <algorithm>

#include "framework/base/clock.h"
#include "framework/progress/peer.h"
#include "framework/rma/engine.h"
#include "framework/rma/window.h"

namespace ashlar::rma {
namespace {

constexpr std::uint64_t kMostPause = 20'000'000;

}  // namespace

TargetWaker::TargetWaker(RmaWindow& window, Rank target)
    : window_(window),
      lane_(window.lane()),
      target_(target),
      pause_(Engine::current().config.get().patience),
      next_(now_ns() + pause_) {
  lane_.lock.held_by_caller();
  poll = look;
  lane_.pollers.push_back(this);
}

TargetWaker::~TargetWaker() {
  lane_.lock.held_by_caller();
  List<Poller>::remove(this);
  lane_.look_again = 0;  // other pollers say so again in their next round
}

void TargetWaker::wake() {
  Comm& comm = *window_.comm;
  comm.lane->lock.held_by_caller();
  ashlar_endpoint* endpoint = nullptr;
  if (progress::endpoint(comm, target_, &endpoint).ok() && endpoint->ops->wake != nullptr)
    endpoint->ops->wake(endpoint);
  pause_ = std::min(2 * pause_, kMostPause);
  next_ = now_ns() + pause_;
}

bool TargetWaker::look(Poller& poller) {
  auto& self = static_cast<TargetWaker&>(poller);
  Lane& lane = self.lane_;
  lane.lock.held_by_caller();
  if (now_ns() >= self.next_) self.wake();
  // Ends sleeps. What another poller has said stays, unless this one said it in a round before.
  if (lane.look_again == 0 || lane.look_again == self.said_ || lane.look_again > self.next_)
    lane.look_again = self.said_ = self.next_;
  return false;
}

}  // namespace ashlar::rma
