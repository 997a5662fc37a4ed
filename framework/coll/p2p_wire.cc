#include "framework/coll/p2p_wire.h"

#include <mpi.h>

#include <cctype>
#include <cstdio>
#include <utility>

#include "framework/base/failure.h"
#include "framework/coll/comm_state.h"
#include "framework/coll/op.h"
#include "framework/datatype/data_view.h"
#include "framework/object/comm.h"
#include "framework/p2p/collective.h"
#include "framework/p2p/reason.h"
#include "framework/plugin/account.h"
#include "framework/progress/peer.h"
#include "framework/progress/waiting.h"

// The code that runs an algorithm holds the lane's lock; the analysis cannot see it through the coroutine.
namespace ashlar::coll {
namespace {

constexpr Tag kNumberMask = Op::kPartTag - 1;
constexpr int kTurnsBeforeProgress = 3;
constexpr int kLooksBeforeProgress = 400;
constexpr int kLooksBeforeYield = 800;  // about as long as a core takes to change hands

/// Polls for about one hand-over of the core before the first yield, where ranks share cores: two hand-overs, there and
/// back, cost more than a rank that runs on another core needs to store the flag. Done once for each condition.
bool comes_soon(Condition& condition) {
  const auto soon = std::exchange(condition.soon, nullptr);
  for (int more = soon != nullptr && soon(condition) ? kLooksBeforeYield : 0; more > 0; --more) {
    if (condition.holds(condition)) return true;
  }
  return false;
}

}  // namespace

/// Reports what a blocking collective waits for: the other ranks of its communicator, and the messages of its gate.
struct P2pWire::Wait {
  const P2pWire& wire;
  const Gate* gate;

  static void tell(const void* what, Lane& lane, plugin::AccountWriter& account) {
    const auto& wait = *static_cast<const Wait*>(what);
    const Comm& comm = wait.wire.comm_;
    const char* const name = name_of(wait.wire.serving_);
    char text[320];
    if (account.inside() != nullptr)
      std::snprintf(text, sizeof text, "in %s", account.inside());
    else
      std::snprintf(text, sizeof text, "in MPI_%c%s on '%s'", std::toupper(static_cast<unsigned char>(name[0])),
                    name + 1, comm.name.c_str());
    // Of an intercommunicator, both groups.
    const auto rank_of = [](const void* of, int member) {
      const Comm& c = *static_cast<const Comm*>(of);
      return member < c.size ? (*c.local_group)[member] : (*c.remote_group)[member - c.size];
    };
    account.waits_in_collective(comm.context, comm.collective_sequence, comm.size + (comm.inter ? comm.remote_size : 0),
                                rank_of, &comm, text);
    if (wait.gate != nullptr) p2p::tell_gate(wait.gate, lane, account);
  }
};

P2pWire::P2pWire(Comm& comm) : Wire(comm.lane), comm_(comm) {}

/// The call that messages with this tag belong to; nullptr: it is not in the log.
const LoggedCall* P2pWire::called_as(Tag tag) const {
  return comm_.coll != nullptr ? comm_.coll->calls.find(tag & kNumberMask) : nullptr;
}

Status P2pWire::send(Rank to, const DataView& data, Tag tag, Gate& gate) ASHLAR_NO_THREAD_SAFETY {
  const LoggedCall* const called = called_as(tag);
  if (called == nullptr) return p2p::post_send(comm_, data, to, tag, gate);
  if (called->is(LoggedCall::kFailed)) [[unlikely]]
    return can_go_on(tag);
  return p2p::post_send(comm_, data, to, tag, gate, called->signature());
}

Status P2pWire::recv(Rank from, const DataView& data, Tag tag, Gate& gate) ASHLAR_NO_THREAD_SAFETY {
  const LoggedCall* const called = called_as(tag);
  if (called == nullptr) return p2p::post_recv(comm_, data, from, tag, gate);
  if (called->is(LoggedCall::kFailed)) [[unlikely]]
    return can_go_on(tag);
  return p2p::post_recv(comm_, data, from, tag, gate, called->signature());
}

void P2pWire::abandon(Gate& gate) ASHLAR_NO_THREAD_SAFETY { p2p::abandon(*comm_.lane, gate); }

void P2pWire::wait(Gate& gate) ASHLAR_NO_THREAD_SAFETY {
  const Wait waited{*this, &gate};
  progress::wait(*comm_.lane, [&gate] { return gate.open(); }, {Wait::tell, &waited});
}

Status P2pWire::wait(Condition& condition) ASHLAR_NO_THREAD_SAFETY {
  Lane& lane = *comm_.lane;
  if (lane.config.oversubscribed) {
    if (comes_soon(condition)) return {};
    // The rank that stores the flag needs a core: one yield is usually enough, and a round of progress before it would
    // only delay that.
    for (int turn = 0; turn < kTurnsBeforeProgress && progress::yield_core(lane); ++turn) {
      if (condition.holds(condition)) return {};
    }
  } else {
    // A flag of a rank that runs right now arrives as fast as a cache line; a round of progress costs as much again.
    for (int look_again = 0; look_again < kLooksBeforeProgress; ++look_again) {
      if (condition.holds(condition)) return {};
    }
  }
  Status alive;
  condition.wire = this;
  condition.poll = &P2pWire::look;
  lane.pollers.push_back(&condition);  // so that the last poll before sleeping sees the flag
  const Wait waited{*this, nullptr};
  const auto over = [&]() {
    if (condition.holds(condition)) return true;
    alive = can_go_on(condition.tag);
    return !alive.ok();
  };
  progress::wait(lane, over, {Wait::tell, &waited});
  List<Poller>::remove(&condition);
  return alive;
}

void P2pWire::give_way() ASHLAR_NO_THREAD_SAFETY { progress::yield_core(*comm_.lane); }

void P2pWire::watch(Condition& condition) ASHLAR_NO_THREAD_SAFETY {
  condition.wire = this;
  condition.poll = &P2pWire::look_and_resume;
  comm_.lane->pollers.push_back(&condition);
}

bool P2pWire::look(Poller& poller) ASHLAR_NO_THREAD_SAFETY {
  auto& condition = static_cast<Condition&>(poller);
  if (condition.before_sleep != nullptr && condition.wire->lane()->sleepers != 0) condition.before_sleep(condition);
  return condition.holds(condition);
}

bool P2pWire::look_and_resume(Poller& poller) {
  auto& condition = static_cast<Condition&>(poller);
  if (!look(poller) && !(condition.wire->lane()->config.oversubscribed && comes_soon(condition))) {
    condition.outcome = condition.wire->can_go_on(condition.tag);
    if (condition.outcome.ok()) return false;
  }
  List<Poller>::remove(&condition);
  progress::make_ready(*condition.waiter);
  return true;
}

void P2pWire::wake(Rank member) ASHLAR_NO_THREAD_SAFETY {
  ashlar_endpoint* endpoint = nullptr;
  if (progress::endpoint(comm_, member, &endpoint).ok() && endpoint->ops->wake != nullptr)
    endpoint->ops->wake(endpoint);
}

Status P2pWire::can_go_on(Tag tag) {
  if (comm_.coll != nullptr) ASHLAR_TRY(coll::can_go_on(*comm_.coll, tag));
  PeerTable& peers = comm_.lane->peers;
  const std::uint32_t failures = peers.failures();
  if (failures == failures_checked_) [[likely]]
    return {};
  const Group& group = *comm_.remote_group;
  for (Rank rank = 0; rank < group.size(); ++rank) {
    const Peer* const peer = peers.find(group[rank]);
    if (peer != nullptr && peer->failed.load(std::memory_order_relaxed)) {
      return fail(MPI_ERR_PROC_ABORTED, "coll.peer_gone",
                  {{"peer", rank}, {"communicator", comm_.name}, {"lower", peers.failure_reason(peer->id)}});
    }
  }
  failures_checked_ = failures;
  return {};
}

}  // namespace ashlar::coll
