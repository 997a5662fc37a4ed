#include "framework/p2p/send_now.h"
#include "framework/p2p/state.h"

// Sends that need a request: what is pushed to the link, and the answers to it.
namespace ashlar::p2p {
namespace {

void release_send(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<SendRequest&>(request);
  LaneState& state = *r.lane().p2p;
  if (r.kept != nullptr) r.kept->owner->give_back(r.kept);
  drop(r);
  state.sends.put(&r);
}

Status start_send(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<SendRequest&>(request);
  r.outcome = Status{};
  r.flags &= static_cast<std::uint8_t>(~Request::kCancelled);
  r.state.store(Request::State::kActive, std::memory_order_relaxed);
  if (r.source == MPI_PROC_NULL) {
    r.finish(Status{});
    return {};
  }
  Status started = launch(r.lane(), r);
  if (!started.ok()) r.state.store(Request::State::kInactive, std::memory_order_relaxed);
  return started;
}

void describe_send(const Request& request, char* out, std::size_t room) {
  const auto& r = static_cast<const SendRequest&>(request);
  const int used = std::snprintf(out, room, "%s of %lld bytes to rank %d tag %d on '%s'", name_of(r.call),
                                 static_cast<long long>(r.size), r.source, r.tag, r.comm->name.c_str());
  const auto length = static_cast<std::size_t>(used);
  if (length >= room || r.link == nullptr || !r.link->held || r.matched || r.size > r.link->eager_limit) return;
  std::snprintf(out + length, room - length,
                ", which waits for its receive: rank %d keeps %llu bytes of %s unexpected messages (p2p.%s there)",
                r.source, static_cast<unsigned long long>(r.link->held_limit),
                r.link->held_by_all ? "all ranks'" : "this rank's",
                r.link->held_by_all ? "unexpected_total_limit" : "unexpected_limit");
}

/// While it waits for room it can be taken back here; once it has left or was announced, only its receiver can tell
/// whether it is matched. Either way the request completes.
Status cancel_send(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<SendRequest&>(request);
  if (r.left_eager) return recall(r);
  if (r.complete()) return {};
  if (r.link == nullptr || r.matched) return {};
  if (r.pending().linked()) {
    List<Pending>::remove(&r.pending());
    r.flags |= Request::kCancelled;
    finish_send(r, r.collective ? r.outcome : Status{});
    return {};
  }
  if (never_received(r)) {
    r.flags |= Request::kCancelled;
    finish_send(r, r.collective ? r.outcome : Status{});
    return {};
  }
  r.cancelling = true;
  send_control(r.lane(), *r.link, kCancel, match::Key::place(r.context(), r.comm->rank), tag_word(r.tag, r.name()));
  r.lane().p2p->cancels.begin();
  return {};
}

/// What follows a push of a whole message: it stays active (PENDING inside the protocol), or is over.
ashlar_result after_push(SendRequest& r, ashlar_result result, bool complete) {
  if (result < 0) {
    finish_send(r, transport_failure(result, r));
  } else if (result == ASHLAR_OK && complete) {
    finish_send(r, Status{});
  }
  return result;
}

ashlar_result push_rts(Pending& work, Link& link);

ashlar_result push_eager(Pending& work, Link& link) {
  SendRequest& r = SendRequest::of(work);
  // The peer may have asked for that while the message waited for room.
  if (link.held) [[unlikely]] {
    r.push = push_rts;
    return push_rts(work, link);
  }
  ashlar_endpoint* const endpoint = link.endpoint;
  const auto bytes = static_cast<std::uint32_t>(r.size);
  const std::uint8_t id = r.ready ? kEagerReady : r.synchronous ? kEagerSync : kEager;
  const std::uint64_t h0 = match::Key::place(r.context(), r.comm->rank);
  const std::uint64_t h1 = tag_word(r.tag, r.collective ? r.called.brief() : r.name());
  ashlar_result result;
  if (bytes <= endpoint->max_short && r.data.dense()) {
    result = endpoint->ops->am_short(endpoint, id, h0, h1, r.data.data, bytes);
  } else {
    Piece piece{&r.data, 0};
    result = endpoint->ops->am_bcopy(endpoint, id, h0, h1, Piece::fill, &piece, bytes);
  }
  r.left_eager = result == ASHLAR_OK && !r.synchronous && (r.flags & Request::kHeld) != 0;
  return after_push(r, result, !r.synchronous);
}

std::size_t fill_rts(void* argument, void* to, std::size_t room) {
  std::memcpy(to, argument, room);
  return room;
}

ashlar_result push_rts(Pending& work, Link& link) ASHLAR_NO_THREAD_SAFETY {
  SendRequest& r = SendRequest::of(work);
  LaneState& state = *r.lane().p2p;
  ashlar_endpoint* const endpoint = link.endpoint;
  if (!r.exposed && state.config.single_copy && r.data.dense() && r.size > 0 && link.iface->ops->expose != nullptr &&
      static_cast<std::uint64_t>(r.size) >= smallest_read(state.config, *endpoint)) {
    r.exposed = link.iface->ops->expose(link.iface, r.data.data, static_cast<std::uint64_t>(r.size), ASHLAR_MEMORY_HOST,
                                        &r.key) == ASHLAR_OK;
  }
  Rts rts;
  rts.bytes = static_cast<std::uint64_t>(r.size);
  rts.called = r.called.value;
  if (r.exposed) rts.key = r.key;
  const std::uint32_t length = r.exposed ? sizeof rts : offsetof(Rts, key);
  const std::uint64_t h0 = match::Key::place(r.context(), r.comm->rank);
  const std::uint64_t h1 = tag_word(r.tag, r.name());
  const std::uint8_t id = r.ready ? kRtsReady : kRts;
  ashlar_result result;
  if (length <= endpoint->max_short) {
    result = endpoint->ops->am_short(endpoint, id, h0, h1, &rts, length);
  } else {
    result = endpoint->ops->am_bcopy(endpoint, id, h0, h1, fill_rts, &rts, length);
  }
  if (result == ASHLAR_OK) {
    ++state.levels.handshakes;
    if ((endpoint->capabilities & ASHLAR_CAP_OFFER) != 0 && r.size >= state.offer_from && !r.collective &&
        r.data.dense() && static_cast<std::uint64_t>(r.size) >= smallest_offer(state.config, *endpoint))
      state.claims.watch(r);
  }
  return after_push(r, result, false);
}

ashlar_result push_fragment(Pending& work, Link& link) {
  SendRequest& r = SendRequest::of(work);
  ashlar_endpoint* const endpoint = link.endpoint;
  const std::uint64_t left = r.wanted - r.sent;
  const auto length = static_cast<std::uint32_t>(left < endpoint->max_bcopy ? left : endpoint->max_bcopy);
  Piece piece{&r.data, r.sent};
  const ashlar_result result =
      endpoint->ops->am_bcopy(endpoint, kData, pair_word(r.remote, r.name()), r.sent, Piece::fill, &piece, length);
  if (result == ASHLAR_OK) {
    r.sent += length;
    if (r.sent < r.wanted) return ASHLAR_PENDING;
  }
  return after_push(r, result, true);
}

using Push = ashlar_result (*)(Pending&, Link&);
Push protocol_for(const SendRequest& r, const Link& link) {
  return r.size <= link.eager_limit && !link.held ? push_eager : push_rts;
}

/// With check.datatypes: the signature, and the message right behind it.
ashlar_result push_announced(Pending& work, Link& link) {
  SendRequest& r = SendRequest::of(work);
  const ashlar_result result = SignatureCheck::announce(r.data, link.endpoint);
  if (result != ASHLAR_OK) return result == ASHLAR_AGAIN ? result : after_push(r, result, false);
  r.push = protocol_for(r, link);
  return r.push(r, link);
}

void abandon_send(Pending& work, Link&) {
  SendRequest& r = SendRequest::of(work);
  finish_send(r, Status::fail(MPI_ERR_PROC_ABORTED, "%s: rank %d of '%s' is gone", name_of(r.call), r.source,
                              r.comm->name.c_str()));
}

}  // namespace

const RequestOps kSendOps = {release_send, start_send, cancel_send, describe_send};

SendRequest::SendRequest(Comm& c, Call by, const DataView& view, MPI_Count bytes_of_view, Rank dest, Tag with_tag)
    : Operation(kSendOps, c, by, view, bytes_of_view) {
  source = dest;
  tag = with_tag;
  abandon = abandon_send;
}

void finish_send(SendRequest& r, Status outcome) ASHLAR_NO_THREAD_SAFETY {
  r.settle();
  r.cancelling = false;
  if (r.claim != nullptr) r.lane().p2p->claims.forget(r);
  if (r.exposed) {
    r.exposed = false;
    r.link->iface->ops->unexpose(r.link->iface, &r.key);
  }
  r.finish(outcome);
}

Status launch(Lane& lane, SendRequest& r) {
  Link* link = nullptr;
  ASHLAR_TRY(open_link(lane, *r.comm, r.source, &link));
  r.link = link;
  r.sent = r.wanted = 0;
  r.matched = r.left_eager = false;
  r.push = lane.p2p->check && !r.collective ? push_announced : protocol_for(r, *link);
  link->active.push_back(&r);
  about_to_use(lane, *link);
  // Whatever waits for room goes first. Bulk data does not: messages may pass the fragments of others.
  if (!link->pending.empty() || r.push(r, *link) == ASHLAR_AGAIN) progress::enqueue(lane, *link, r);
  return {};
}

void on_matched(Lane&, const ashlar_am& am) {
  SendRequest* const r = named<SendRequest>(high_word(am.h0), kSendOps);
  if (r == nullptr) return;
  ++r->link->answers;
  finish_send(*r, Status{});
}

void on_unready(Lane&, const ashlar_am& am) {
  SendRequest* const r = named<SendRequest>(high_word(am.h0), kSendOps);
  if (r == nullptr) return;
  finish_send(
      *r, Status::fail(MPI_ERR_OTHER,
                       "%s of %lld bytes to rank %d tag %d on '%s': no matching receive was posted there, so the "
                       "message was dropped (check.ready)",
                       name_of(r->call), static_cast<long long>(r->size), r->source, r->tag, r->comm->name.c_str()));
}

void on_cts(Lane& lane, const ashlar_am& am) {
  SendRequest* const r = named<SendRequest>(high_word(am.h0), kSendOps);
  if (r == nullptr) return;
  ++r->link->answers;
  if (r->claim != nullptr) lane.p2p->claims.forget(*r);
  r->remote = low_word(am.h0);
  r->wanted = am.h1;
  r->sent = 0;
  r->matched = true;
  r->push = push_fragment;
  about_to_use(lane, *r->link);
  progress::enqueue(lane, *r->link, *r, /*bulk=*/true);
}

}  // namespace ashlar::p2p
