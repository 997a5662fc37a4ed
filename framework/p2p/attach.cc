#include <new>

#include "framework/base/failure.h"
#include "framework/p2p/buffer_api.h"
#include "framework/p2p/config.h"
#include "framework/p2p/handlers.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/links.h"
#include "framework/p2p/receiving.h"
#include "framework/p2p/setup.h"
#include "framework/p2p/traffic.h"

namespace ashlar::p2p {
namespace {

void release_nothing(Request&) {}
void describe_nothing(const Request&, char* out, std::size_t room) {
  if (room > 0) out[0] = '\0';
}
const RequestOps kConstantOps = {.release = release_nothing, .describe = describe_nothing};

}  // namespace

bool is_constant(const Request& request) { return request.ops == &kConstantOps; }

LaneState::LaneState(Lane& lane, const Config& configuration, ProcessState& of_process)
    : config(configuration),
      process(of_process),
      posts(lane, config, posted),
      post_writer(lane, config),
      cancels(lane) {
  nowhere.lane = &lane;
  limit_requests();
  if (config.check_datatypes) check = std::make_unique<SignatureCheck>();
  sent = constants.take(kConstantOps, nowhere);
  nothing_received = constants.take(kConstantOps, nowhere);
  if (sent == nullptr || nothing_received == nullptr) return;
  sent->state.store(Request::State::kComplete, std::memory_order_relaxed);
  nothing_received->state.store(Request::State::kComplete, std::memory_order_relaxed);
  nothing_received->source = MPI_PROC_NULL;
}

void LaneState::limit_requests() {
  const auto most = static_cast<std::size_t>(config.request_limit);
  receives.set_limit(most);
  sends.set_limit(most);
  pairs.set_limit(most);
  generalized.set_limit(most);
  flushes.set_limit(most);
  part_sends.set_limit(most);
  part_receives.set_limit(most);
  kept_offers.set_limit(most);
  refused_offers.set_limit(most);
}

void configure(Lane& lane, const Config& config) {
  lane.p2p->config = config;
  lane.p2p->limit_requests();
  // Decided anew with the next message that takes the slow path, which is the next one.
  lane.peers.each([&lane](Peer& peer) {
    peer.link(lane).eager_limit = 0;
    peer.link(lane).budget = 0;
  });
}

Status attach(Lane& lane, const Config& config, ProcessState& process) {
  const LaneGuard guard(lane.lock);
  auto* const state = new (std::nothrow) LaneState(lane, config, process);
  if (state == nullptr || state->nothing_received == nullptr) {
    delete state;
    return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the matching queues of a lane"}});
  }
  lane.p2p = state;
  lane.peer_failed = fail_peer;
  for (const Id id : {kEager, kEagerSync, kRts}) lane.handlers[id] = state->check ? on_message_checked : on_message;
  if (state->check) lane.handlers[kSignature] = on_signature;
  for (const Id id : {kAck, kFin}) lane.handlers[id] = on_matched;
  lane.handlers[kCts] = on_cts;
  lane.handlers[kData] = on_data;
  for (const Id id : {kThrottle, kResume}) lane.handlers[id] = on_throttle;
  lane.handlers[kCancel] = on_cancel;
  lane.handlers[kCancelled] = on_cancelled;
  lane.handlers[kRecall] = on_recall;
  lane.handlers[kDelivered] = on_delivered;
  lane.handlers[kUnreceived] = on_unreceived;
  for (const Id id : {kEagerReady, kRtsReady}) lane.handlers[id] = on_ready_message;
  lane.handlers[kUnready] = on_unready;
  lane.handlers[kStopped] = on_stopped;
  for (const Id id : {kCollectiveCall, kCollectiveFailed}) lane.handlers[id] = on_collective_notice;
  lane.handlers[kPartOffer] = on_part_offer;
  lane.handlers[kPartRefused] = on_part_refused;
  lane.handlers[kPartGo] = on_part_go;
  lane.handlers[kPartData] = on_part_data;
  lane.handlers[kPartReady] = on_part_ready;
  for (const Id id : {kPartRead, kPartUnread}) lane.handlers[id] = on_part_read;
  lane.handlers[kRma] = on_window_message;
  lane.handlers[kGoodbye] = on_goodbye;
  lane.handlers[kEnd] = on_end;
  lane.handlers[kTaggedFirst] = on_tagged_first;
  for (const Id id : {kTaggedRts, kTaggedTaken, kTaggedAsk, kTaggedSent}) lane.handlers[id] = on_tagged_nothing;
  if (lane.index == 0) register_no_proc(process.no_proc, *state->nothing_received);
  return {};
}

void detach(Lane& lane) {
  const LaneGuard guard(lane.lock);
  LaneState* const state = lane.p2p;
  if (state == nullptr) return;
  while (match::Message* message = state->unexpected.in_order().front()) {
    state->unexpected.remove(*message);
    discard(*state, static_cast<Arrival&>(*message));
  }
  drop_offers(lane, nullptr);
  if (state->native != nullptr) List<Poller>::remove(state->native.get());
  if (lane.index == 0) unregister_no_proc(state->process.no_proc);
  lane.p2p = nullptr;
  lane.peer_failed = nullptr;
  delete state;
}

void drop_context(Comm& comm) {
  LaneState& state = *comm.lane->p2p;
  drop_buffer(&comm.send_buffer);
  drop_traffic(comm);
  drop_offers(*comm.lane, &comm);
  forget_messages(*comm.lane, comm.context);
  if (state.native != nullptr) state.native->drop_context(comm.context);
}

// The state of the process never changes once lanes are attached.
void take_contexts(Lane& lane) ASHLAR_NO_THREAD_SAFETY {
  if (lane.p2p != nullptr) lane.p2p->process.contexts_taken.fetch_add(1, std::memory_order_relaxed);
}

void forget_messages(Lane& lane, std::uint32_t context) {
  LaneState& state = *lane.p2p;
  for (auto at = state.unexpected.in_order().begin(); at != state.unexpected.in_order().end();) {
    match::Message& message = *at;
    ++at;
    if ((message.key.context() & ~1u) != context) continue;
    auto& arrival = static_cast<Arrival&>(message);
    // The sender of an RTS of a collective cancels it when that fails there, and waits for the answer.
    if ((message.key.context() & 1) != 0 && arrival.am.id != kEager) continue;
    give_up(lane, arrival, false);
  }
}

}  // namespace ashlar::p2p
