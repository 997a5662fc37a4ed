#include "framework/p2p/recall.h"

#include <cstdio>

#include "framework/p2p/handlers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/receiving.h"
#include "framework/p2p/sending.h"
#include "framework/p2p/setup.h"

namespace ashlar::p2p {
namespace {

void release_sent(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<SendRequest&>(request);
  r.flags = Request::kHeld;
  r.lane().p2p->sent_requests.put(r);
}

void describe_sent(const Request&, char* out, std::size_t room) {
  std::snprintf(out, room, "MPI_Cancel of a send whose message has left");
}

Status cancel_sent(Request& request) { return recall(static_cast<SendRequest&>(request)); }

bool peer_of_sent_failed(Request& request, Status) {
  return end_cancelled_by_failure(static_cast<SendRequest&>(request));
}

/// The send that an answer is for. It is active: only MPI_Cancel made it wait for one.
SendRequest* recalled(std::uint32_t name) {
  if (SendRequest* const r = named<SendRequest>(name, kSentOps)) return r;
  SendRequest* const r = named<SendRequest>(name, kSendOps);
  return r != nullptr && r->left_eager ? r : nullptr;
}

constexpr std::uint32_t kIds = 1u << kEager | 1u << kEagerSync | 1u << kRts | 1u << kEagerReady | 1u << kRtsReady;

// Rounds of progress between two looks of a process that does not sleep.
constexpr std::uint32_t kRounds = 64;

Returned envelope_of(const SendRequest& r) {
  return {.link = r.link,
          .place = r.ops == &kSentOps ? r.from : match::Key::place(r.context(), r.comm->rank),
          .tag = r.tag};
}

ashlar_result fate_of(const Link& link, const Returned& envelope, std::uint32_t name) {
  ashlar_endpoint* const endpoint = link.endpoint;
  if (endpoint == nullptr || (endpoint->capabilities & ASHLAR_CAP_REST) == 0) return ASHLAR_PENDING;
  return endpoint->ops->fate(endpoint, kIds, envelope.place, tag_word(envelope.tag, name));
}

ashlar_result fate_of(const SendRequest& r) {
  const Returned envelope = envelope_of(r);
  return r.returned == envelope ? ASHLAR_AGAIN : fate_of(*r.link, envelope, r.name());
}

/// Ends the recall of `r`. False: it is not being recalled.
bool end_recall(SendRequest& r, bool cancelled) {
  if (r.ops != &kSentOps && (r.ops != &kSendOps || !r.left_eager)) return false;
  r.settle();
  r.left_eager = false;
  if (cancelled) r.flags |= Request::kCancelled;
  r.finish(r.outcome);
  return true;
}

bool being_cancelled(const Operation& operation) {
  if (operation.ops == &kSentOps) return true;
  if (operation.ops != &kSendOps) return false;
  const auto& r = static_cast<const SendRequest&>(operation);
  return r.left_eager || r.cancelling;
}

void end_cancelled(SendRequest& r) {
  if (end_recall(r, true)) return;
  r.flags |= Request::kCancelled;
  // One of a collective that has failed keeps the reason there.
  finish_send(r, r.collective ? r.outcome : Status{});
}

}  // namespace

CancelWatch::CancelWatch(Lane& lane) : lane_(lane) {
  poll = [](Poller& self) { return static_cast<CancelWatch&>(self).look(); };
}

void CancelWatch::begin() ASHLAR_NO_THREAD_SAFETY {
  if (polled_) return;
  polled_ = true;
  lane_.pollers.push_back(this);
}

bool CancelWatch::look() ASHLAR_NO_THREAD_SAFETY {
  if (++rounds_ % kRounds != 0 && lane_.armed == 0) return false;
  bool any = false, got_on = false;
  lane_.peers.each([&](Peer& peer) { any = look_at(peer.link(lane_), &got_on) || any; });
  if (any) return got_on;
  polled_ = false;
  List<Poller>::remove(this);
  return got_on;
}

// Whether something is still being cancelled there.
bool CancelWatch::look_at(Link& link, bool* got_on) {
  bool any = false;
  List<ActiveHook> operations;
  while (ActiveHook* hook = link.active.pop_front()) operations.push_back(hook);
  while (ActiveHook* hook = operations.pop_front()) {
    auto& operation = static_cast<Operation&>(*hook);
    const bool asked = being_cancelled(operation);
    const ashlar_result fate = asked ? fate_of(static_cast<SendRequest&>(operation)) : ASHLAR_PENDING;
    if (fate == ASHLAR_PENDING) {
      any = any || asked;
      link.active.push_back(hook);
      continue;
    }
    *got_on = true;
    // An RTS that was matched has been answered before.
    auto& r = static_cast<SendRequest&>(operation);
    if (fate == ASHLAR_AGAIN || r.cancelling) {
      end_cancelled(r);
    } else {
      end_recall(r, false);
    }
  }
  return any;
}

bool never_received(const SendRequest& r) { return fate_of(r) == ASHLAR_AGAIN; }

bool at_rest(const Link& link) { return fate_of(link, Returned{}, 0) != ASHLAR_PENDING; }

const RequestOps kSentOps = {
    .release = release_sent, .cancel = cancel_sent, .describe = describe_sent, .peer_failed = peer_of_sent_failed};

void SentRequests::make_one(Slab<SendRequest>& memory, Comm& nowhere) {
  const DataView nothing{nullptr, 0, nullptr};
  SendRequest* const r = memory.take(nowhere, Procedure::kIsend, nothing, 0, MPI_ANY_SOURCE, MPI_ANY_TAG);
  if (r == nullptr) return;
  r->ops = &kSentOps;
  r->state.store(Request::State::kComplete, std::memory_order_relaxed);
  r->remote = r->name();
  put(*r);
}

Status recall(SendRequest& r) ASHLAR_NO_THREAD_SAFETY {
  // Only once: of a message that has been called back, or is just being, the name could only fit an older one.
  if (r.active() || (r.flags & Request::kCancelled) != 0) return {};
  if (never_received(r)) {
    r.flags |= Request::kCancelled;
    return {};
  }
  if (r.link->peer->failed.load(std::memory_order_relaxed)) return {};
  r.state.store(Request::State::kActive, std::memory_order_relaxed);
  r.link->active.push_back(&r);
  send_control(r.lane(), *r.link, kRecall, envelope_of(r).place, tag_word(r.tag, r.name()));
  r.lane().p2p->cancels.begin();
  return {};
}

bool end_cancelled_by_failure(SendRequest& r) {
  if (!being_cancelled(r)) return false;
  if (!never_received(r)) return end_recall(r, false);
  end_cancelled(r);
  return true;
}

void on_recall(Lane& lane, const ashlar_am& am) {
  LaneState& state = *lane.p2p;
  match::Message* const found = state.unexpected.find_last_if(key_of(am), [&am](const match::Message& message) {
    const ashlar_am& kept = static_cast<const Arrival&>(message).am;
    return kept.peer == am.peer && kept.h1 == am.h1 && kept.id == kEager;
  });
  if (found != nullptr) {
    auto& arrival = static_cast<Arrival&>(*found);
    withdraw(lane, state, arrival);
    discard(state, arrival);
  }
  Link* link = nullptr;
  if (open_link(lane, am.peer, &link).ok())
    send_control(lane, *link, found != nullptr ? kCancelled : kDelivered, pair_word(low_word(am.h1), 0), 0);
}

void on_cancelled(Lane&, const ashlar_am& am) {
  const std::uint32_t name = high_word(am.h0);
  if (SendRequest* const r = recalled(name)) {
    end_recall(*r, true);
  } else if (SendRequest* const cancelled = named<SendRequest>(name, kSendOps)) {
    end_cancelled(*cancelled);
  }
}

void on_delivered(Lane&, const ashlar_am& am) {
  if (SendRequest* const r = recalled(high_word(am.h0))) end_recall(*r, r->returned == envelope_of(*r));
}

void give_up(Lane& lane, Arrival& arrival, bool connect) {
  const ashlar_am am = arrival.am;
  // Messages of collectives have no name there, and those of blocking sends none at all.
  const bool recallable = (arrival.key.context() & 1) == 0 && low_word(am.h1) != 0;
  withdraw(lane, *lane.p2p, arrival);
  discard(*lane.p2p, arrival);
  Link* link = progress::link_of(lane, am.peer);
  if (!recallable || (link != nullptr && (link->is_self || link->peer->failed.load(std::memory_order_relaxed)))) return;
  if (link == nullptr || link->endpoint == nullptr) {
    if (!connect || !open_link(lane, am.peer, &link).ok()) return;
  }
  if (!at_rest(*link)) send_control(lane, *link, kUnreceived, am.h0, am.h1);
}

bool give_up_all(Lane& lane, std::uint32_t kept_context) {
  if (lane.p2p->native != nullptr && !lane.p2p->native->has_swept()) return false;
  // Each round looks from the front again: telling a sender may open a link, and that may change the queue.
  const auto next = [&]() ASHLAR_NO_THREAD_SAFETY -> Arrival* {  // called under the lane's lock, as this function
    for (match::Message& message : lane.p2p->unexpected.in_order())
      if ((message.key.context() & ~1u) != kept_context) return &static_cast<Arrival&>(message);
    return nullptr;
  };
  while (Arrival* const arrival = next()) give_up(lane, *arrival, true);
  return quiet(lane);
}

void on_unreceived(Lane& lane, const ashlar_am& am) {
  void* const at = at_name(low_word(am.h1));
  if (!Arena::contains(at)) return;
  auto* const request = static_cast<Request*>(static_cast<Object*>(at));
  if (request->kind != Kind::kRequest || (request->ops != &kSentOps && request->ops != &kSendOps)) return;
  auto& r = static_cast<SendRequest&>(*request);
  r.returned = {.link = progress::link_of(lane, am.peer), .place = am.h0, .tag = static_cast<Tag>(high_word(am.h1))};
  if (r.active() && r.awaits() && being_cancelled(r) && r.returned == envelope_of(r)) end_cancelled(r);
}

}  // namespace ashlar::p2p
