#pragma once
#include <cstdint>
#include <span>

#include "framework/base/status.h"
#include "framework/object/comm.h"
#include "framework/plugin/component.h"
#include "framework/progress/lane.h"

namespace ashlar {
class Request;
namespace plugin {
class AccountWriter;
}
}  // namespace ashlar

/// What the runtime and communicators need of point-to-point: its beginning and end on a lane, and what is under way.
namespace ashlar::p2p {

struct Config;
struct ProcessState;

/// Gives `lane` matching queues and request storage and registers the message handlers. Before traffic. `process` is
/// what the lanes of the process share; it outlives them.
Status attach(Lane& lane, const Config& config, ProcessState& process);
/// Drops them; everything still active is forgotten. After the last traffic.
void detach(Lane& lane);
/// Takes over the values of rows that are not frozen: sends from now on go by them.
void configure(Lane& lane, const Config& config) ASHLAR_REQUIRES(lane.lock);
/// Shows what the lane counts as performance variables (plugin/pvars.h), and takes it away again, before detach: what
/// was counted stays. Without the lane's lock.
void add_pvars(Lane& lane);
void remove_pvars(Lane& lane);

/// The lane has a further interface, whose network may match messages.
void use_tags(Lane& lane, ashlar_iface& iface) ASHLAR_REQUIRES(lane.lock);

/// A communicator gets contexts. What a network still has of those that were freed before may carry the same numbers,
/// and is not given up any more. Any thread.
void take_contexts(Lane& lane);

/// Forgets messages that arrived for a communicator that is being destroyed (both of its contexts), and its buffer.
void drop_context(Comm& comm) ASHLAR_REQUIRES(comm.lane->lock);
/// Gives up the unexpected messages of all communicators but that of `kept_context`, which outlives the others: none
/// can receive them any more. False: not all of their senders could be notified yet; to be called again after progress.
bool give_up_all(Lane& lane, std::uint32_t kept_context) ASHLAR_REQUIRES(lane.lock);

/// Processes of other jobs (parting.cc), on lane 0. Sends kGoodbye to `peer`, once, unless nothing was ever sent to or
/// received from it, or it has failed, or no longer hears this process. `waits`: this process goes on when `peer` has
/// said the same; else it forgets it.
void say_goodbye(Lane& lane, PeerId peer, bool waits) ASHLAR_REQUIRES(lane.lock);
/// Has the transport watch over `peer`, so that its end becomes known, though nothing was sent to it.
void watch(Lane& lane, PeerId peer) ASHLAR_REQUIRES(lane.lock);
/// Ends `peer` with its job, as far as that can be told it (MPI_Abort).
void say_end(Lane& lane, PeerId peer, int code) ASHLAR_REQUIRES(lane.lock);
/// Whether nothing is on its way from this lane to `peer`, and no operation waits for it.
bool done_with(Lane& lane, PeerId peer) ASHLAR_REQUIRES(lane.lock);
/// Gives back the links to `peer`, which is done with.
void drop_links(Lane& lane, PeerId peer) ASHLAR_REQUIRES(lane.lock);

/// Whether it is one of the complete requests that are given out again and again, and that need not be waited for.
bool is_constant(const Request& request);

/// Whether no operation of this process is active on `lane`, requests without a handle included.
bool quiet(Lane& lane) ASHLAR_REQUIRES(lane.lock);

/// Whether an operation of this process on `comm` is active, requests without a handle included.
bool busy(const Comm& comm) ASHLAR_REQUIRES(comm.lane->lock);

/// Writes what the calls that wait on `lane` wait for, and which operations are active on it.
void account_for(Lane& lane, plugin::AccountWriter& account) ASHLAR_REQUIRES(lane.lock);
/// Writes what one of them waits for.
void account_for(Lane& lane, const progress::Waiting& waiting, plugin::AccountWriter& account)
    ASHLAR_REQUIRES(lane.lock);

}  // namespace ashlar::p2p
