#include <cstdio>

#include "framework/p2p/collective.h"
#include "framework/p2p/eager_limit.h"
#include "framework/p2p/events.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/receiving.h"
#include "framework/p2p/sending.h"

// The request of a send: its start, its cancellation, its end.
namespace ashlar::p2p {
namespace {

void release_send(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<SendRequest&>(request);
  LaneState& state = *r.lane().p2p;
  if (r.kept != nullptr) r.kept->owner->give_back(r.kept);
  state.sends.put(&r);
}

Status start_send(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<SendRequest&>(request);
  if (r.source != MPI_PROC_NULL) return start_again(r.lane(), r);
  r.flags &= static_cast<std::uint8_t>(~Request::kCancelled);
  r.finish(Status{});
  return {};
}

void describe_send(const Request& request, char* out, std::size_t room) {
  const auto& r = static_cast<const SendRequest&>(request);
  const int used = std::snprintf(out, room, "%s of %lld bytes to rank %d tag %d on '%s'", name_of(r.call),
                                 static_cast<long long>(r.size), r.source, r.tag, r.comm->name.c_str());
  const auto length = static_cast<std::size_t>(used);
  if (length >= room || r.link == nullptr || !r.link->throttled || r.matched || r.size > eager_limit(*r.link, *r.comm))
    return;
  std::snprintf(out + length, room - length,
                ", which waits for its receive: rank %d keeps %llu bytes of %s unexpected messages (p2p.%s there)",
                r.source, static_cast<unsigned long long>(r.link->throttle_limit),
                r.link->throttled_by_all ? "all ranks'" : "this rank's",
                r.link->throttled_by_all ? "unexpected_total_limit" : "unexpected_limit");
}

/// A message that waits for room is taken back here. Once it has left, or its RTS has, only the receiver knows whether
/// it is matched. Either way the request completes.
Status cancel_send(Request& request) ASHLAR_NO_THREAD_SAFETY {
  auto& r = static_cast<SendRequest&>(request);
  if (r.left_eager) return recall(r);
  if (r.complete()) return {};
  if (r.link == nullptr || r.matched) return {};
  const bool waits_for_room = r.pending().linked();
  if (waits_for_room || never_received(r)) {
    if (waits_for_room) List<Pending>::remove(&r.pending());
    r.flags |= Request::kCancelled;
    r.lane().p2p->counters.cancelled.add();
    finish_send(r, r.collective ? r.outcome : Status{});
    return {};
  }
  r.cancelling = true;
  send_control(r.lane(), *r.link, kCancel, match::Key::place(r.context(), r.comm->rank), tag_word(r.tag, r.name()));
  r.lane().p2p->cancels.begin();
  return {};
}

void abandon_send(Pending& work, Link& link) {
  SendRequest& r = SendRequest::of(work);
  finish_send(r, fail_gone(r.lane(), r, r.source, link.peer->id));
}

bool peer_of_send_failed(Request& request, Status outcome) {
  auto& r = static_cast<SendRequest&>(request);
  if (!end_cancelled_by_failure(r)) finish_send(r, outcome);
  return true;
}

}  // namespace

const RequestOps kSendOps = {.release = release_send,
                             .start = start_send,
                             .cancel = cancel_send,
                             .describe = describe_send,
                             .peer_failed = peer_of_send_failed};

SendRequest::SendRequest(Comm& c, Procedure by, const DataView& view, MPI_Count bytes_of_view, Rank dest, Tag with_tag)
    : Operation(kSendOps, c, by, view, bytes_of_view) {
  source = dest;
  tag = with_tag;
  abandon = abandon_send;
}

void finish_send(SendRequest& r, Status outcome) ASHLAR_NO_THREAD_SAFETY {
  r.settle();
  r.cancelling = false;
  if (r.asked) end_rendezvous(r, outcome);
  if (r.unanswered != nullptr) r.lane().p2p->post_writer.forget(r);
  if (r.exposed) {
    r.exposed = false;
    r.link->iface->ops->unexpose(r.link->iface, &r.key);
  }
  r.finish(outcome);
}

}  // namespace ashlar::p2p
