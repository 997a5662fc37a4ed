#include "framework/p2p/send_push.h"

#include <cstddef>

#include "framework/base/failure.h"
#include "framework/p2p/eager_limit.h"
#include "framework/p2p/events.h"
#include "framework/p2p/handlers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/send_now.h"
#include "framework/p2p/sending.h"

// The sender's half of both protocols, and the answers to it.
namespace ashlar::p2p {
namespace {

/// What follows a push that completes the send if it went well and `complete` is set; a message that awaits an answer
/// stays active.
ashlar_result after_push(SendRequest& r, ashlar_result result, bool complete) {
  if (result < 0) {
    finish_send(r, transport_failure(result, r));
  } else if (result == ASHLAR_OK && complete) {
    finish_send(r, Status{});
  }
  return result;
}

std::uint64_t envelope_of(const SendRequest& r) { return match::Key::place(r.context(), r.comm->rank); }

ashlar_result push_eager(SendRequest& r, Link& link) ASHLAR_NO_THREAD_SAFETY {
  const bool standard = r.mode == SendMode::kStandard;
  const std::uint8_t id = r.mode == SendMode::kReady ? kEagerReady : standard ? kEager : kEagerSync;
  const std::uint64_t h1 = tag_word(r.tag, r.collective ? r.called.brief() : r.name());
  NativeMatching* const native = native_for(link, *r.comm, r.context());
  const ashlar_result result = native != nullptr
                                   ? native->send(link, envelope_of(r), h1, r.data, static_cast<std::uint32_t>(r.size))
                                   : give_whole(link, id, envelope_of(r), h1, r.data, r.size);
  if (result == ASHLAR_OK && !standard) link.lane->p2p->counters.synchronous.add();
  r.left_eager = result == ASHLAR_OK && standard && (r.flags & Request::kHeld) != 0;
  return after_push(r, result, standard);
}

std::size_t fill_rts(void* argument, void* to, std::size_t room) {
  std::memcpy(to, argument, room);
  return room;
}

/// Lets the receiver read the message from here, where both sides allow it and it pays.
void expose(const LaneState& state, SendRequest& r, const Link& link) {
  if (r.exposed || !state.config.single_copy || !r.data.dense() || r.size == 0 || link.iface->ops->expose == nullptr ||
      static_cast<std::uint64_t>(r.size) < smallest_read(state.config, *link.endpoint))
    return;
  r.exposed = link.iface->ops->expose(link.iface, r.data.data, static_cast<std::uint64_t>(r.size), ASHLAR_MEMORY_HOST,
                                      &r.key) == ASHLAR_OK;
}

ashlar_result push_rts(SendRequest& r, Link& link) ASHLAR_NO_THREAD_SAFETY {
  LaneState& state = *r.lane().p2p;
  ashlar_endpoint* const endpoint = link.endpoint;
  expose(state, r, link);
  Rts rts;
  rts.bytes = static_cast<std::uint64_t>(r.size);
  rts.called = r.called.value;
  if (r.exposed) rts.key = r.key;
  const std::uint32_t length = r.exposed ? sizeof rts : offsetof(Rts, key);
  const std::uint64_t h0 = envelope_of(r);
  const std::uint64_t h1 = tag_word(r.tag, r.name());
  const std::uint8_t id = r.mode == SendMode::kReady ? kRtsReady : kRts;
  ashlar_result result;
  if (NativeMatching* const native = native_for(link, *r.comm, r.context())) {
    result = native->announce(link, h0, h1, &rts, length);
  } else if (length <= endpoint->max_short) {
    result = endpoint->ops->am_short(endpoint, id, h0, h1, &rts, length);
  } else {
    result = endpoint->ops->am_bcopy(endpoint, id, h0, h1, fill_rts, &rts, length);
  }
  if (result == ASHLAR_OK) {
    state.counters.handshakes.add();
    state.counters.handshake_bytes.add(rts.bytes);
    begin_rendezvous(r);
    state.post_writer.watch(r);
  }
  return after_push(r, result, false);
}

}  // namespace

ashlar_result give_whole(Link& link, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const DataView& data,
                         MPI_Count bytes) ASHLAR_NO_THREAD_SAFETY {
  ashlar_endpoint& endpoint = *link.endpoint;
  const auto length = static_cast<std::uint32_t>(bytes);
  if (length <= endpoint.max_short && data.dense())
    return endpoint.ops->am_short(&endpoint, id, h0, h1, data.data, length);
  Piece piece{&data, 0};
  const ashlar_result result = endpoint.ops->am_bcopy(&endpoint, id, h0, h1, Piece::fill, &piece, length);
  if (result == ASHLAR_OK) {
    link.lane->p2p->counters.packed.add();
    link.lane->p2p->counters.packed_bytes.add(length);
  }
  return result;
}

bool send_packed(Link& link, const Comm& comm, std::uint64_t h0, std::uint64_t h1, const void* buf, MPI_Count count,
                 Datatype& type) {
  const DataView data = DataView::of(buf, count, type);
  const MPI_Count bytes = data.bytes();
  return bytes <= eager_limit(link, comm) && give_whole(link, kEager, h0, h1, data, bytes) == ASHLAR_OK;
}

ashlar_result push_message(Pending& work, Link& link) {
  SendRequest& r = SendRequest::of(work);
  // The receiver may have throttled the link while the message waited for room.
  if (link.throttled) [[unlikely]]
    r.protocol = Protocol::kRendezvous;
  switch (r.protocol) {
    case Protocol::kEager:
      return push_eager(r, link);
    case Protocol::kRendezvous:
      break;
  }
  return push_rts(r, link);
}

ashlar_result push_signature(Pending& work, Link& link) {
  SendRequest& r = SendRequest::of(work);
  const ashlar_result result = SignatureCheck::send_ahead(r.data, link.endpoint);
  if (result != ASHLAR_OK) return result == ASHLAR_AGAIN ? result : after_push(r, result, false);
  r.push = push_message;
  return push_message(r, link);
}

ashlar_result push_fragment(Pending& work, Link& link) ASHLAR_NO_THREAD_SAFETY {
  SendRequest& r = SendRequest::of(work);
  ashlar_endpoint* const endpoint = link.endpoint;
  const std::uint64_t left = r.wanted - r.sent;
  const auto length = static_cast<std::uint32_t>(left < endpoint->max_bcopy ? left : endpoint->max_bcopy);
  Piece piece{&r.data, r.sent};
  const ashlar_result result =
      endpoint->ops->am_bcopy(endpoint, kData, pair_word(r.remote, r.name()), r.sent, Piece::fill, &piece, length);
  if (result == ASHLAR_OK) {
    r.sent += length;
    link.lane->p2p->counters.fragments.add();
    link.lane->p2p->counters.fragment_bytes.add(length);
    if (r.sent < r.wanted) return ASHLAR_PENDING;
  }
  return after_push(r, result, true);
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
  finish_send(*r, fail(MPI_ERR_OTHER, "message.not_ready",
                       {{"call", name_of(r->call)},
                        {"bytes", r->size},
                        {"peer", r->source},
                        {"tag", r->tag},
                        {"communicator", r->comm->name}}));
}

void on_cts(Lane& lane, const ashlar_am& am) {
  SendRequest* const r = named<SendRequest>(high_word(am.h0), kSendOps);
  if (r == nullptr) return;
  ++r->link->answers;
  if (r->unanswered != nullptr) lane.p2p->post_writer.forget(*r);
  lane.p2p->counters.fragmented.add();
  r->remote = low_word(am.h0);
  r->wanted = am.h1;
  r->sent = 0;
  r->matched = true;
  r->push = push_fragment;
  about_to_use(lane, *r->link);
  progress::enqueue(lane, *r->link, *r, /*bulk=*/true);
}

}  // namespace ashlar::p2p
