#include "framework/rma/waiting.h"

#include <mpi.h>

#include <cstdio>

#include "framework/base/failure.h"
#include "framework/plugin/account.h"
#include "framework/progress/peer.h"
#include "framework/progress/user_call.h"
#include "framework/progress/waiting.h"

namespace ashlar::rma {
namespace {

/// The lane's lock, and that a condition knows of it.
class ASHLAR_SCOPED_CAPABILITY HeldLane {
 public:
  HeldLane(Lane& lane, Condition& condition) ASHLAR_ACQUIRE(lane.lock) : lane_(lane), condition_(condition) {
    lane.lock.lock();
    condition.set_lane_is_held(true);
  }
  ~HeldLane() ASHLAR_RELEASE() {
    condition_.set_lane_is_held(false);
    lane_.lock.unlock();
  }
  HeldLane(const HeldLane&) = delete;
  HeldLane& operator=(const HeldLane&) = delete;

 private:
  Lane& lane_;
  Condition& condition_;
};

constexpr int kLooksBeforeProgress = 32;
constexpr int kTurnsBeforeProgress = 3;

/// The poller of one wait, so that the last look before the process sleeps sees the state.
struct Watch : Poller {
  Lane* lane;
  Condition* condition;
  bool announced = false;

  static bool look(Poller& poller) ASHLAR_NO_THREAD_SAFETY {
    auto& watch = static_cast<Watch&>(poller);
    if (!watch.announced && watch.lane->sleepers != 0) {
      watch.announced = true;
      watch.condition->announce();
    }
    return watch.condition->holds();
  }
};

struct Waited {
  const RmaWindow* window;
  const Condition* condition;

  static void tell(const void* what, Lane&, plugin::AccountWriter& account) {
    const auto& waited = *static_cast<const Waited*>(what);
    char reason[160];
    waited.condition->describe(reason, sizeof reason);
    tell_wait(account, *waited.window, waited.condition->awaited(), reason);
  }
};

/// Fails when a process of the window is gone. `*checked`: how many failures of the job are known not to concern it.
Status all_alive(RmaWindow& window, std::uint32_t* checked) {
  PeerTable& peers = window.lane().peers;
  const std::uint32_t failures = peers.failures();
  if (failures == *checked) [[likely]]
    return {};
  for (Rank rank = 0; rank < window.ranks; ++rank) {
    const Peer* const peer = peers.find((*window.group)[rank]);
    if (peer != nullptr && peer->failed.load(std::memory_order_relaxed))
      return fail(MPI_ERR_PROC_ABORTED, "rma.peer_gone",
                  {{"peer", rank}, {"window", window.label()}, {"lower", peers.failure_reason(peer->id)}});
  }
  *checked = failures;
  return {};
}

/// A state of a process that runs right now comes as fast as a cache line; where cores are shared, others need a turn.
bool comes_soon(Lane& lane, Condition& condition) {
  if (!lane.config.oversubscribed) {
    for (int look = 0; look < kLooksBeforeProgress; ++look) {
      condition.pause();
      if (condition.holds()) return true;
    }
    return false;
  }
  const HeldLane held(lane, condition);
  for (int turn = 0; turn < kTurnsBeforeProgress && progress::yield_core(lane); ++turn)
    if (condition.holds()) return true;
  return false;
}

}  // namespace

Status wait(RmaWindow& window, Condition& condition) {
  if (condition.holds()) return {};
  Lane& lane = window.lane();
  if (comes_soon(lane, condition)) return {};
  const progress::UserCall call(condition.call(), &window);
  const HeldLane held(lane, condition);
  Watch watch;
  watch.poll = &Watch::look;
  watch.lane = &lane;
  watch.condition = &condition;
  lane.pollers.push_back(&watch);
  Status alive;
  std::uint32_t checked = 0;
  const auto over = [&]() {
    if (condition.holds()) return true;
    alive = all_alive(window, &checked);
    return !alive.ok();
  };
  const Waited waited{.window = &window, .condition = &condition};
  progress::wait(lane, over, {.tell = &Waited::tell, .what = &waited});
  List<Poller>::remove(&watch);
  if (watch.announced) condition.withdraw();
  return alive;
}

// Operations have no name here; they are no calls that wait for what others do, but for room.
void tell_wait(plugin::AccountWriter& account, const RmaWindow& window, Rank rank, const char* reason) {
  char text[320];
  if (account.inside() != nullptr)
    std::snprintf(text, sizeof text, "%s in %s", reason, account.inside());
  else
    std::snprintf(text, sizeof text, "%s in an operation on window '%s'", reason, window.label());
  account.waits_for(rank < 0 ? plugin::kAnyPeer : (*window.group)[rank], text);
}

namespace {

void ring(Comm& comm, Rank rank) {
  comm.lane->lock.held_by_caller();
  ashlar_endpoint* endpoint = nullptr;
  if (progress::endpoint(comm, rank, &endpoint).ok() && endpoint->ops->wake != nullptr) endpoint->ops->wake(endpoint);
}

}  // namespace

void wake(RmaWindow& window, Rank rank, bool lane_is_held) {
  Comm& comm = *window.comm;
  if (lane_is_held) return ring(comm, rank);
  const LaneGuard guard(comm.lane->lock);
  ring(comm, rank);
}

}  // namespace ashlar::rma
