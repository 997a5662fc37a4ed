#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "framework/base/failure.h"
#include "framework/base/slab.h"
#include "framework/match/queues.h"
#include "framework/object/comm.h"
#include "framework/p2p/flush_request.h"
#include "framework/p2p/generalized.h"
#include "framework/p2p/internal.h"
#include "framework/p2p/message.h"
#include "framework/p2p/operation.h"
#include "framework/p2p/paired.h"
#include "framework/p2p/partitioned.h"
#include "framework/p2p/process_state.h"
#include "framework/p2p/recall.h"
#include "framework/p2p/route_table.h"
#include "framework/p2p/send_buffer.h"
#include "framework/p2p/shared_post.h"
#include "framework/p2p/signature_check.h"

namespace ashlar::p2p {

/// An answer or a word about the link that found no room.
struct Control : Pending {
  static constexpr std::size_t kMost = 48;
  std::uint8_t id = 0;
  std::uint8_t length = 0;
  std::uint64_t h0 = 0, h1 = 0;
  std::byte data[kMost];
};

/// Point-to-point's part of a lane. Guarded by the lane's lock.
struct LaneState {
  LaneState(Lane& lane, const Config& configuration, ProcessState& of_process);

  match::PostedQueue posted;
  match::UnexpectedQueue unexpected;
  Unpaired unpaired;
  Slab<RecvRequest> receives;
  Slab<SendRequest> sends;
  const Config config;
  ProcessState& process;

  SharedPosts posts;
  PostWriter post_writer;
  CancelWatch cancels;

  const CollectiveHooks* collectives = nullptr;  // set with the first collective

  SentRequests sent_requests;
  /// Complete requests that are given out again and again: for what needs no request of its own, and for what goes to
  /// or comes from MPI_PROC_NULL. Never released.
  Request* sent = nullptr;
  Request* nothing_received = nullptr;

  std::unique_ptr<SignatureCheck> check;  // with check.datatypes

  Slab<Pull> pulls;
  Slab<Control> controls;
  Slab<Arrival> arrivals;
  Slab<MessageObject> messages;
  Slab<Request> constants;
  // Each kind of request has the limit p2p.request_limit of its own.
  Slab<PairRequest> pairs;
  Slab<GeneralizedRequest> generalized;
  Slab<FlushRequest> flushes;
  Slab<PartSend> part_sends;
  Slab<PartRecv> part_receives;
  std::uint64_t part_serial = 0;  // the last that was given to a PartSend
  Slab<KeptOffer> kept_offers;    // the limits of the peers bound them
  Comm nowhere;                   // the communicator of requests that belong to none: leads to the lane, never fails
  std::unique_ptr<RouteTable> routes;  // of the first of several lanes

  struct Levels {
    std::uint64_t unexpected = 0, unexpected_bytes = 0, unexpected_peak = 0, unexpected_bytes_peak = 0;
    std::uint64_t unexpected_total = 0, throttles = 0, handshakes = 0, single_copies = 0, single_copy_failures = 0;
  } levels;
  std::array<ashlar_pvar, 16> pvar_rows = {};
};

/// Why `requests` has none left: its limit, or memory.
template <class T>
Status no_request(const Slab<T>& requests) {
  if (requests.out() < requests.limit()) return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "a request"}});
  return fail(MPI_ERR_NO_MEM, "request.limit", {{"count", requests.out()}});
}

/// The sizes of the short path, and the shared parts of the files of this room.
inline constexpr std::int32_t kBudget = 64;  // see Link::budget

// --- receive side ---
/// Whether a message that is here, or the end of the only process that could send one, decides `r` without waiting.
bool taken_at_once(Lane& lane, LaneState& state, RecvRequest& r) ASHLAR_REQUIRES(lane.lock);
/// Matches `r`, whose key is set, with a message that is here, or posts it.
inline void begin(Lane& lane, LaneState& state, RecvRequest& r) ASHLAR_REQUIRES(lane.lock) {
  if (!state.unexpected.empty() || lane.failures_seen != 0) [[unlikely]] {
    if (taken_at_once(lane, state, r)) return;
  }
  state.posted.post(r);
}
/// The same for a nonblocking receive, whose caller may go and compute.
inline void begin_nonblocking(Lane& lane, LaneState& state, RecvRequest& r) ASHLAR_REQUIRES(lane.lock) {
  begin(lane, state, r);
  if (r.size >= state.posts.smallest()) [[unlikely]]
    state.posts.post(r);
}
/// `r` takes a message that was kept and is out of the queue; frees it.
void receive_kept(Lane& lane, LaneState& state, RecvRequest& r, Arrival& arrival) ASHLAR_REQUIRES(lane.lock);
/// A receive that tells `gate` when it is over, even if that is at once.
Status start_receive_on_gate(Lane& lane, Comm& comm, const DataView& data, Rank from, Tag tag, Call call, Gate& gate)
    ASHLAR_REQUIRES(lane.lock);
void accept_rts(Lane& lane, RecvRequest& r, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
/// Ends a receive that is in no queue, and what it has under way but for a read that the transport is about to finish.
void end_receive(LaneState& state, RecvRequest& r, Status outcome);
/// For a matched receive whose sender was writing into it and has stopped: takes the rest from `remote`, if there is
/// one.
void go_on_reading(Lane& lane, RecvRequest& r, std::uint32_t remote) ASHLAR_REQUIRES(lane.lock);
/// Takes a message for which check.datatypes is on: `r` fails when the signatures do not go together.
void accept_checked(Lane& lane, RecvRequest& r, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
/// Keeps a message that nobody waits for.
void keep(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
/// Takes a kept message out of the queue, and frees it after use.
void withdraw(Lane& lane, LaneState& state, Arrival& arrival) ASHLAR_REQUIRES(lane.lock);
void discard(LaneState& state, Arrival& arrival);
/// Both, of one that nothing can receive any more; the sender is told, if need be over a new connection.
void give_up(Lane& lane, Arrival& arrival, bool connect) ASHLAR_REQUIRES(lane.lock);
MPI_Count bytes_announced(const ashlar_am& am);
/// Of a message that is longer than its receive.
Status wrong_size(const Operation& r, std::uint64_t arrived);
/// Whether a collective's receive gets what it waits for: as many bytes, from a rank that called the same. `theirs` is
/// what the sender called, `brief` that it is a CallWord::brief().
Status check_collective(RecvRequest& r, CallWord mine, CallWord theirs, bool brief, std::uint64_t arrived);
/// Whether reading straight into the memory of `data` pays: not where it has many short runs.
bool readable_in_runs(const DataView& data);
/// The size from which a receiver may read from a sender's memory.
inline std::uint64_t smallest_read(const Config& config, const ashlar_endpoint& endpoint) {
  return config.get_min != 0 ? config.get_min : endpoint.get_from;
}
/// The size from which a receive may be posted in shared memory, and a message written so: for all peers, and for one
/// whose transport can.
MPI_Count smallest_shared_post(const Config& config);
inline std::uint64_t smallest_shared_post(const Config& config, const ashlar_endpoint& endpoint) {
  return config.shared_post_min != 0 ? config.shared_post_min : smallest_read(config, endpoint);
}

// --- both ---
/// Something is about to go over `link`: if that leads to this process itself, the lane has something to take in, and
/// whoever sleeps for it has to know, because the caller may leave without a round of progress.
inline void about_to_use(Lane& lane, const Link& link) ASHLAR_REQUIRES(lane.lock) {
  if (!link.is_self) [[likely]]
    return;
  lane.self_busy = true;
  progress::raise_armed(lane);
}
/// Sends an answer, or queues it when there is no room.
void send_control(Lane& lane, Link& link, Id id, std::uint64_t h0, std::uint64_t h1, const void* data = nullptr,
                  std::size_t length = 0) ASHLAR_REQUIRES(lane.lock);
/// The link to `rank`, connected, with its limits decided.
Status open_link(Lane& lane, Comm& comm, Rank rank, Link** out) ASHLAR_REQUIRES(lane.lock);
/// The same to the process that sent `am`.
Status open_link(Lane& lane, PeerId peer, Link** out) ASHLAR_REQUIRES(lane.lock);
Status transport_failure(ashlar_result result, const Operation& operation);
/// The failure of an operation whose other side has failed; `reason`: the transport's words, or "".
Status fail_gone(const Operation& operation, Rank peer, const char* reason);
void fail_peer(Lane& lane, PeerId peer) ASHLAR_REQUIRES(lane.lock);

/// Handlers of the wire's messages.
void on_message(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_message_checked(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_signature(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_matched(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_cts(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_data(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_throttle(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_cancel(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_cancelled(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_recall(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_delivered(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_unreceived(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_ready_message(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_unready(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_collective_notice(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
void on_stopped(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);

/// The active operation of that name and kind, or nullptr.
template <class T>
T* named(std::uint32_t name, const RequestOps& ops) {
  void* const at = at_name(name);
  if (!Arena::contains(at)) return nullptr;
  auto* const request = static_cast<Request*>(static_cast<Object*>(at));
  if (request->kind != Kind::kRequest || request->ops != &ops || !request->active()) return nullptr;
  return static_cast<T*>(request);
}

}  // namespace ashlar::p2p
