#pragma once
#include "framework/p2p/lane_state.h"

/// The receiver's half, which is spread over arrival.cc (matching, whole messages), receive.cc (calls) and
/// rendezvous_recv.cc.
namespace ashlar::p2p {

/// Whether a message that is here, or the end of the only process that could send one, decides `r` without waiting.
bool taken_at_once(Lane& lane, LaneState& state, RecvRequest& r) ASHLAR_REQUIRES(lane.lock);
/// Matches `r`, whose key is set, with a message that is here, or posts it.
inline void begin(Lane& lane, LaneState& state, RecvRequest& r) ASHLAR_REQUIRES(lane.lock) {
  if (!state.unexpected.empty() || lane.unusual != 0) [[unlikely]] {
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
/// `r` takes a message that the network has matched with it. `in_place`: its bytes are in the memory of `r` already.
void accept_native(Lane& lane, RecvRequest& r, const ashlar_am& am, bool in_place) ASHLAR_REQUIRES(lane.lock);
/// `r` takes a message that was kept and is out of the queue; frees it.
void receive_kept(Lane& lane, LaneState& state, RecvRequest& r, Arrival& arrival) ASHLAR_REQUIRES(lane.lock);
/// A receive that counts itself on `gate`, even if it is over at once.
Status start_receive_on_gate(Lane& lane, Comm& comm, const DataView& data, Rank from, Tag tag, Procedure call,
                             Gate& gate) ASHLAR_REQUIRES(lane.lock);
void accept_rts(Lane& lane, RecvRequest& r, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
/// Ends a receive that is in no queue, and what it has under way but for a read that the transport is about to finish.
void end_receive(LaneState& state, RecvRequest& r, Status outcome);
/// For a matched receive whose sender was writing into it and has stopped: takes the rest from `remote`, if there is
/// one.
void go_on_reading(Lane& lane, RecvRequest& r, std::uint32_t remote) ASHLAR_REQUIRES(lane.lock);
/// Takes a message for which check.datatypes is on: `r` fails when the signatures do not go together. `was_kept`: it
/// was an unexpected message.
void accept_checked(Lane& lane, RecvRequest& r, const ashlar_am& am, bool was_kept) ASHLAR_REQUIRES(lane.lock);
/// Keeps a message that no receive has asked for.
void keep(Lane& lane, const ashlar_am& am) ASHLAR_REQUIRES(lane.lock);
/// Takes a kept message out of the queue, and frees it after use.
void withdraw(Lane& lane, LaneState& state, Arrival& arrival) ASHLAR_REQUIRES(lane.lock);
void discard(LaneState& state, Arrival& arrival);
/// Gives up what was kept of a communicator (both of its contexts) that is being destroyed.
void forget_messages(Lane& lane, std::uint32_t context) ASHLAR_REQUIRES(lane.lock);
/// Both, of one that nothing can receive any more; its sender is notified, over a new connection if `connect` is set.
void give_up(Lane& lane, Arrival& arrival, bool connect) ASHLAR_REQUIRES(lane.lock);
MPI_Count message_bytes(const ashlar_am& am);
/// The failure of a receive that is shorter than its message.
Status wrong_size(const Operation& r, std::uint64_t arrived);
/// Whether a collective's receive gets what it waits for: as many bytes, from a rank that called the same. `theirs` is
/// what the sender called, `brief` that it is a CallSignature::brief().
Status check_collective(RecvRequest& r, CallSignature mine, CallSignature theirs, bool brief, std::uint64_t arrived);
/// Whether reading straight into the memory of `data` pays: not where it has many short runs.
bool readable_in_runs(const DataView& data);

}  // namespace ashlar::p2p
