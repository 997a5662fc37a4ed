#include <cstdio>
#include <cstring>

#include "framework/object/handle.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/reason.h"
#include "framework/p2p/setup.h"
#include "framework/plugin/account.h"
#include "framework/progress/waiting.h"

// What this process waits for, in words.
namespace ashlar::p2p {
namespace {

constexpr std::size_t kSentence = 320;

/// Whether it is an Operation: of each kind there are tables of functions for several forms.
bool is_message(const Request& request) {
  return request.ops->describe == kSendOps.describe || request.ops->describe == kRecvOps.describe;
}

/// A rank of a communicator (its remote group) as a process of the job.
std::uint32_t peer_of(const Comm& comm, Rank rank) {
  if (rank == MPI_ANY_SOURCE) return plugin::kAnyPeer;
  const bool known = rank >= 0 && comm.remote_group && rank < comm.remote_size;
  return known ? (*comm.remote_group)[rank] : plugin::kNoPeer;
}

Rank other_side(const Operation& operation) {
  if (operation.ops->describe == kSendOps.describe) return operation.source;
  return static_cast<const RecvRequest&>(operation).key.source();
}

/// The operation in words, the other side also by its number in the job where that is another.
std::uint32_t words_of(const Request& request, char* text, std::size_t room) {
  request.ops->describe(request, text, room);
  if (!is_message(request)) return plugin::kNoPeer;
  const Rank rank = other_side(static_cast<const Operation&>(request));
  const std::uint32_t peer = peer_of(*request.comm, rank);
  const std::size_t used = std::strlen(text);
  PeerTable& peers = request.comm->lane->peers;
  if (peer < plugin::kNoPeer && peers.is_of_other_job(peer)) {
    std::snprintf(text + used, room - used, " (rank %u of another job)", peers.identity_of(peer).rank);
    return plugin::kNoPeer;
  }
  if (peer < plugin::kNoPeer && peer != static_cast<std::uint32_t>(rank))
    std::snprintf(text + used, room - used, " (rank %u of the job)", peer);
  return peer;
}

bool blocks(Procedure call) {
  switch (call) {
    case Procedure::kSend:
    case Procedure::kSsend:
    case Procedure::kRsend:
    case Procedure::kRecv:
    case Procedure::kMrecv:
    case Procedure::kSendrecv:
      return true;
    default:
      return false;
  }
}

void tell_waited(const Request& request, plugin::AccountWriter& account) {
  if (request.complete()) return;
  char text[kSentence] = "for ";
  if (account.inside() != nullptr && is_message(request)) {
    // The messages of such a call mean nothing to the user; the rank they come from or go to does.
    const auto& operation = static_cast<const Operation&>(request);
    const Rank rank = other_side(operation);
    const std::uint32_t process = peer_of(*operation.comm, rank);
    const int length = std::snprintf(text, sizeof text, "in %s for rank %d", account.inside(), rank);
    if (process < plugin::kNoPeer && process != static_cast<std::uint32_t>(rank) &&
        static_cast<std::size_t>(length) < sizeof text)
      std::snprintf(text + length, sizeof text - static_cast<std::size_t>(length), " (rank %u of the job)", process);
    account.waits_for(process, text);
    return;
  }
  if (is_message(request) && blocks(static_cast<const Operation&>(request).call)) std::strcpy(text, "in ");
  const std::size_t used = std::strlen(text);
  const std::uint32_t peer = words_of(request, text + used, sizeof text - used);
  account.waits_for(peer, text);
}

template <class Visit>
void each_active(Lane& lane, Visit visit) ASHLAR_REQUIRES(lane.lock) {
  lane.p2p->posted.table().each([&](match::Entry& entry) { visit(static_cast<RecvRequest&>(entry)); });
  if (lane.p2p->native != nullptr) lane.p2p->native->each([&](RecvRequest& r) { visit(r); });
  lane.p2p->unpaired.receives.each([&](match::Entry& entry) {
    auto& receive = static_cast<PartRecv&>(entry);
    if (receive.active()) visit(receive);
  });
  lane.peers.each([&](Peer& peer) {
    for (ActiveHook& hook : peer.link(lane).active) visit(static_cast<Operation&>(hook));
  });
}

}  // namespace

void tell_request(const void* request, Lane&, plugin::AccountWriter& account) {
  tell_waited(*static_cast<const Request*>(request), account);
}

void tell_gate(const void* gate, Lane& lane, plugin::AccountWriter& account) ASHLAR_NO_THREAD_SAFETY {
  each_active(lane, [&](Operation& operation) {
    if (operation.gate == gate) tell_waited(operation, account);
  });
}

void tell_requests(const void* array, Lane&, plugin::AccountWriter& account) {
  const auto& requests = *static_cast<const RequestArray*>(array);
  for (int i = 0; i < requests.count; ++i) {
    const Request* const r = resolve(requests.handles[i]);
    if (r != nullptr && r->active()) tell_waited(*r, account);
  }
}

void tell_leaving(const void* what, Lane& lane, plugin::AccountWriter& account) ASHLAR_NO_THREAD_SAFETY {
  const auto& leaving = *static_cast<const Leaving*>(what);
  bool written = false;
  each_active(lane, [&](Operation& operation) {
    // A posted receive keeps a communicator busy, but not the process.
    if (leaving.comm == nullptr ? !operation.awaits() : operation.comm != leaving.comm) return;
    char text[kSentence];
    std::snprintf(text, sizeof text, written ? "for " : "in %s for ", leaving.call);
    const std::size_t used = std::strlen(text);
    const std::uint32_t peer = words_of(operation, text + used, sizeof text - used);
    account.waits_for(peer, text);
    written = true;
  });
  if (written) return;
  char text[kSentence];
  if (leaving.comm == nullptr) {
    std::snprintf(text, sizeof text, "in %s until everything it sent has left this process", leaving.call);
  } else {
    std::snprintf(text, sizeof text, "in %s for the operations on '%s' that are under way", leaving.call,
                  leaving.comm->name.c_str());
  }
  account.waits_for(plugin::kNoPeer, text);
}

void account_for(Lane& lane, const progress::Waiting& waiting, plugin::AccountWriter& account) {
  if (waiting.reason().tell == nullptr) return;  // no call of the user's
  if (!account.waits()) account.waiting(waiting.since());
  char call[kSentence];
  if (waiting.user_call() != nullptr) {
    waiting.user_call()->describe(call, sizeof call);
    account.inside(call);
  }
  waiting.reason().tell(waiting.reason().what, lane, account);
  account.inside(nullptr);
}

void account_for(Lane& lane, plugin::AccountWriter& account) {
  for (const progress::Waiting& waiting : lane.waits) account_for(lane, waiting, account);
  each_active(lane, [&](Operation& operation) {
    char text[kSentence];
    const std::uint32_t peer = words_of(operation, text, sizeof text);
    account.under_way(peer, text);
  });
}

bool busy(const Comm& comm) {
  bool found = false;
  each_active(*comm.lane, [&](Operation& operation) { found = found || operation.comm == &comm; });
  return found;
}

bool quiet(Lane& lane) {
  bool active = false;
  lane.peers.each([&](Peer& peer) {
    const Link& link = peer.link(lane);
    // What waits for room at a process that is at rest has nothing to tell it.
    active = active || ((!link.pending.empty() || !link.bulk.empty() || !link.active.empty()) && !at_rest(link));
  });
  return !active;
}

}  // namespace ashlar::p2p
