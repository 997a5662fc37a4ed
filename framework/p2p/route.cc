#include "framework/p2p/route.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "framework/p2p/lane_state.h"
#include "framework/p2p/receiving.h"
#include "framework/p2p/route_table.h"
#include "framework/progress/context_lane.h"

namespace ashlar::p2p {

/// Messages on their way from the first lane to another.
class Mailbox : public Poller {
 public:
  explicit Mailbox(Lane& lane) : lane_(lane) {
    poll = [](Poller& self) { return static_cast<Mailbox&>(self).deliver(); };
  }
  /// Any thread.
  void put(const ashlar_am& am) {
    {
      const std::lock_guard guard(mutex_);
      Letter& letter = letters_.emplace_back(Letter{.am = am, .data = {}});
      const auto* const data = static_cast<const std::byte*>(am.data);
      letter.data.assign(data, data + am.length);
      waiting_.store(true, std::memory_order_release);
    }
    progress::raise_from_outside(lane_);
  }

 private:
  struct Letter {
    ashlar_am am;
    std::vector<std::byte> data;
  };
  /// In a progress round of the lane: all that waits, because the bounds on what a peer may send see only what was
  /// delivered.
  bool deliver() ASHLAR_NO_THREAD_SAFETY {
    if (!waiting_.load(std::memory_order_acquire)) return false;
    std::deque<Letter> letters;
    {
      const std::lock_guard guard(mutex_);
      letters.swap(letters_);
      waiting_.store(false, std::memory_order_relaxed);
    }
    for (Letter& letter : letters) {
      letter.am.data = letter.data.data();
      lane_.handlers[letter.am.id](lane_, letter.am);
    }
    return true;
  }

  Lane& lane_;
  std::mutex mutex_;
  std::deque<Letter> letters_;
  std::atomic<bool> waiting_{false};
};

RouteTable::RouteTable(std::span<Lane* const> all, const std::array<AmHandler, Lane::kMaxHandlers>& of_first)
    : lanes(all.begin(), all.end()), own(of_first) {
  mailboxes.resize(lanes.size());
  for (std::size_t i = 1; i < lanes.size(); ++i) mailboxes[i] = std::make_unique<Mailbox>(*lanes[i]);
}
RouteTable::~RouteTable() = default;

namespace {

/// Keeps the message, or hands it to the lane that it belongs to.
void hand_over(Lane& first, unsigned to, const ashlar_am& am) ASHLAR_NO_THREAD_SAFETY {
  RouteTable& routes = *first.p2p->routes;
  if (to == 0 || to >= routes.lanes.size()) return routes.own[am.id](first, am);
  routes.mailboxes[to]->put(am);
}

void route_by_context(Lane& first, const ashlar_am& am) ASHLAR_NO_THREAD_SAFETY {
  hand_over(first, lane_of_context(key_of(am).context(), static_cast<unsigned>(first.p2p->routes->lanes.size())), am);
}

void route_by_operation(Lane& first, const ashlar_am& am) { hand_over(first, lane_of_name(high_word(am.h0)), am); }

/// A process of one lane means all of ours; others speak for the lane they say it on.
void route_about_link(Lane& first, const ashlar_am& am) ASHLAR_NO_THREAD_SAFETY {
  RouteTable& routes = *first.p2p->routes;
  routes.own[am.id](first, am);
  const Peer* const peer = first.peers.find(am.peer);
  if (peer == nullptr || !peer->one_lane.load(std::memory_order_relaxed)) return;
  for (std::size_t i = 1; i < routes.lanes.size(); ++i) routes.mailboxes[i]->put(am);
}

}  // namespace

void join_lanes(std::span<Lane* const> lanes) ASHLAR_NO_THREAD_SAFETY {
  if (lanes.size() < 2) return;
  Lane& first = *lanes.front();
  first.p2p->routes = std::make_unique<RouteTable>(lanes, first.handlers);
  for (const Id id : {kEager, kEagerSync, kRts, kEagerReady, kRtsReady, kCancel, kRecall, kPartOffer, kCollectiveCall,
                      kCollectiveFailed, kUnreceived, kRma})
    first.handlers[id] = route_by_context;
  for (const Id id : {kAck, kFin, kCts, kData, kCancelled, kDelivered, kUnready, kPartGo, kPartData, kPartReady,
                      kPartRead, kPartUnread, kPartRefused, kStopped})
    first.handlers[id] = route_by_operation;
  for (const Id id : {kThrottle, kResume}) first.handlers[id] = route_about_link;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    lanes[i]->next_lane = lanes[(i + 1) % lanes.size()];
    if (i > 0) lanes[i]->pollers.push_back(first.p2p->routes->mailboxes[i].get());
  }
}

}  // namespace ashlar::p2p
