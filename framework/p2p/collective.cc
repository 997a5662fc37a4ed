#include "framework/p2p/collective.h"
#include "framework/p2p/handlers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/receiving.h"

// What collectives that have failed, or may never end, ask of messages.
namespace ashlar::p2p {

void hook_collectives(Lane& lane, const CollectiveHooks& hooks) { lane.p2p->collectives = &hooks; }

void send_notice(Lane& lane, std::uint32_t context, PeerId peer, bool failed, Tag tag, const void* bytes,
                 std::size_t length) {
  Link* link = nullptr;
  if (!open_link(lane, peer, &link).ok()) return;
  send_control(lane, *link, failed ? kCollectiveFailed : kCollectiveCall, match::Key::place(context, 0),
               tag_word(tag, 0), bytes, length);
}

void on_collective_notice(Lane& lane, const ashlar_am& am) {
  // Without hooks this process has called no collective yet.
  if (const CollectiveHooks* const hooks = lane.p2p->collectives) hooks->notice(lane, am);
}

void end_collective(Comm& comm, Tag tag, Tag mask, Status outcome) ASHLAR_NO_THREAD_SAFETY {
  Lane& lane = *comm.lane;
  LaneState& state = *lane.p2p;
  const auto concerned = [&](const Operation& operation, Tag of) {
    return operation.collective && operation.comm == &comm && (of & mask) == tag;
  };
  state.posted.table().each([&](match::Entry& entry) {
    auto& r = static_cast<RecvRequest&>(entry);
    if (!concerned(r, r.key.tag)) return;
    state.posted.remove(r);
    r.finish(outcome);
  });
  if (state.native != nullptr) {
    state.native->each([&](RecvRequest& r) {
      if (concerned(r, r.key.tag)) state.native->end(r, outcome);
    });
  }
  lane.peers.each([&](Peer& peer) {
    List<ActiveHook>& active = peer.link(lane).active;
    for (auto at = active.begin(); at != active.end();) {
      auto& operation = static_cast<Operation&>(*at);
      ++at;  // a send that has not left yet ends within cancel
      if (operation.ops != &kSendOps || !concerned(operation, operation.tag)) continue;
      operation.outcome = outcome;
      static_cast<void>(kSendOps.cancel(operation));
    }
  });
}

}  // namespace ashlar::p2p
