#include "framework/p2p/recall.h"

#include <cstdio>

#include "framework/p2p/state.h"

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

/// The send that an answer is for. It is active: only MPI_Cancel made it wait for one.
SendRequest* recalled(std::uint32_t name) {
  if (SendRequest* const r = named<SendRequest>(name, kSentOps)) return r;
  SendRequest* const r = named<SendRequest>(name, kSendOps);
  return r != nullptr && r->left_eager ? r : nullptr;
}

}  // namespace

const RequestOps kSentOps = {release_sent, nullptr, cancel_sent, describe_sent};

void SentRequests::make_one(Slab<SendRequest>& memory, Comm& nowhere) {
  const DataView nothing{nullptr, 0, nullptr};
  SendRequest* const r = memory.take(nowhere, Call::kIsend, nothing, 0, MPI_ANY_SOURCE, MPI_ANY_TAG);
  if (r == nullptr) return;
  r->ops = &kSentOps;
  r->state.store(Request::State::kComplete, std::memory_order_relaxed);
  r->remote = r->name();
  put(*r);
}

Status recall(SendRequest& r) ASHLAR_NO_THREAD_SAFETY {
  // Only once: of a message that has been called back, or is just being, the name could only fit an older one.
  if (r.active() || (r.flags & Request::kCancelled) != 0) return {};
  if (r.link->peer->failed.load(std::memory_order_relaxed)) return {};
  const std::uint64_t place = r.ops == &kSentOps ? r.from : match::Key::place(r.context(), r.comm->rank);
  r.state.store(Request::State::kActive, std::memory_order_relaxed);
  r.link->active.push_back(&r);
  send_control(r.lane(), *r.link, kRecall, place, tag_word(r.tag, r.name()));
  return {};
}

bool end_recall(Operation& operation, bool cancelled) {
  if (operation.ops != &kSentOps && (operation.ops != &kSendOps || !static_cast<SendRequest&>(operation).left_eager))
    return false;
  auto& r = static_cast<SendRequest&>(operation);
  r.settle();
  r.left_eager = false;
  if (cancelled) r.flags |= Request::kCancelled;
  r.finish(r.outcome);
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
    cancelled->flags |= Request::kCancelled;
    // One of a collective that has failed keeps the reason there.
    finish_send(*cancelled, cancelled->collective ? cancelled->outcome : Status{});
  }
}

void on_delivered(Lane&, const ashlar_am& am) {
  if (SendRequest* const r = recalled(high_word(am.h0))) end_recall(*r, false);
}

}  // namespace ashlar::p2p
