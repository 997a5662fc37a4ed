#include <cstring>
#include <string>

#include "framework/base/failure.h"
#include "framework/base/log.h"
#include "framework/p2p/collective.h"
#include "framework/p2p/config.h"
#include "framework/p2p/handlers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/limits.h"
#include "framework/p2p/links.h"
#include "framework/p2p/sending.h"
#include "framework/plugin/host.h"

// Links: connecting, answers, throttling, failure.
namespace ashlar::p2p {
namespace {

/// A link that nothing is wrong with gets a new budget for the short path.
void settle_limits(Lane& lane, Link& link) ASHLAR_REQUIRES(lane.lock) {
  if (link.eager_limit == 0) [[unlikely]] {
    lane.p2p->counters.links.add();
    decide_limits(lane, link);
  }
  link.budget =
      link.is_self || link.throttled || link.stalled() || lane.p2p->check || link.native != nullptr ? 0 : kBudget;
}

ashlar_result push_control(Pending& work, Link& link) ASHLAR_NO_THREAD_SAFETY {
  auto& control = static_cast<Control&>(work);
  ashlar_endpoint* const endpoint = link.endpoint;
  const ashlar_result result = endpoint->ops->am_short(endpoint, control.id, control.h0, control.h1,
                                                       control.length != 0 ? control.data : nullptr, control.length);
  if (result != ASHLAR_AGAIN) link.lane->p2p->controls.put(&control);
  return result;
}

void abandon_control(Pending& work, Link& link) ASHLAR_NO_THREAD_SAFETY {
  link.lane->p2p->controls.put(static_cast<Control*>(&work));
}

}  // namespace

Status open_link(Lane& lane, Comm& comm, Rank rank, Link** out) {
  Peer* const peer = progress::peer_of(comm, rank);
  if (peer == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the record of a peer"}, {"peer", rank}});
  ASHLAR_TRY(progress::connect(lane, *peer, out));
  settle_limits(lane, **out);
  return {};
}

Status open_link(Lane& lane, PeerId id, Link** out) {
  Peer* const peer = lane.peers.get(id);
  if (peer == nullptr) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the record of a peer"}, {"peer", id}});
  ASHLAR_TRY(progress::connect(lane, *peer, out));
  settle_limits(lane, **out);
  return {};
}

Status transport_failure(ashlar_result result, const Operation& operation) {
  const std::string reason = plugin::own_words(plugin::from(result, "the transport"));
  return fail(-result, "transport.failed",
              {{"call", name_of(operation.call)},
               {"peer", operation.source},
               {"communicator", operation.comm->name},
               {"tag", operation.tag},
               {"lower", reason}});
}

Status fail_gone(Lane& lane, const Operation& operation, Rank peer, PeerId process) {
  const std::string reason = lane.peers.failure_reason(process);
  const char* const call = name_of(operation.call);
  if (reason.empty())
    return fail_alike(MPI_ERR_PROC_ABORTED, "peer.failed",
                      {{"call", call}, {"peer", peer}, {"communicator", operation.comm->name}});
  return fail_alike(MPI_ERR_PROC_ABORTED, "peer.failed",
                    {{"call", call}, {"peer", peer}, {"communicator", operation.comm->name}, {"lower", reason}});
}

void send_control(Lane& lane, Link& link, Id id, std::uint64_t h0, std::uint64_t h1, const void* data,
                  std::size_t length) {
  about_to_use(lane, link);
  if (link.pending.empty()) [[likely]] {
    ashlar_endpoint* const endpoint = link.endpoint;
    const ashlar_result result =
        endpoint->ops->am_short(endpoint, id, h0, h1, data, static_cast<std::uint32_t>(length));
    if (result != ASHLAR_AGAIN) return;  // an error means a dead peer, which the transport reports by itself
  }
  lane.p2p->counters.answers_queued.add();
  Control* const control = lane.p2p->controls.take();
  if (control == nullptr) {
    ASHLAR_LOG(error, "p2p", "no memory for an answer to process %u; it will wait for ever", link.peer->id);
    return;
  }
  control->push = push_control;
  control->abandon = abandon_control;
  control->id = id;
  control->h0 = h0;
  control->h1 = h1;
  control->length = static_cast<std::uint8_t>(length);
  if (length != 0) std::memcpy(control->data, data, length);
  progress::enqueue(lane, link, *control);
}

void on_throttle(Lane& lane, const ashlar_am& am) {
  Link* const link = progress::link_of(lane, am.peer);
  if (link == nullptr) return;
  link->throttled = am.id == kThrottle;
  if (link->throttled) lane.p2p->counters.throttled.add();
  link->throttle_limit = am.h0;
  link->throttled_by_all = am.h1 != 0;
  link->budget = 0;
  if (link->throttled) record_throttle(lane, *link);
}

void fail_peer(Lane& lane, PeerId id) {
  LaneState& state = *lane.p2p;
  const auto end = [&lane, id](Operation& operation, Rank other) {
    return operation.ops->peer_failed(operation, fail_gone(lane, operation, other, id));
  };
  const auto waits_for_it = [id](const Operation& receive, Rank source) {
    // A receive from any source may still find another sender.
    return source != MPI_ANY_SOURCE && (*receive.comm->remote_group)[source] == id;
  };
  state.posted.table().each([&](match::Entry& entry) {
    auto& r = static_cast<RecvRequest&>(entry);
    if (waits_for_it(r, r.key.source())) end(r, r.key.source());
  });
  if (state.native != nullptr) state.native->peer_failed(lane, id);
  state.unpaired.receives.each([&](match::Entry& entry) {
    auto& r = static_cast<PartRecv&>(entry);
    if (r.active() && waits_for_it(r, r.source)) end(r, r.source);
  });
  if (state.windows != nullptr) state.windows->peer_failed(state.windows->windows, id);
  Link* const link = progress::link_of(lane, id);
  if (link == nullptr) return;
  List<ActiveHook> waiting;
  while (ActiveHook* hook = link->active.pop_front()) waiting.push_back(hook);
  while (ActiveHook* hook = waiting.pop_front()) {
    auto& operation = static_cast<Operation&>(*hook);
    if (!end(operation, operation.source)) link->active.push_back(hook);
  }
}

}  // namespace ashlar::p2p
