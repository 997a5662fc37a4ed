#pragma once
#include <mpi.h>

#include "framework/object/status_fields.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/receiving.h"

/// What the plain and the matching probes share.
namespace ashlar::p2p {

/// The message that a receive of these arguments would take, or nullptr.
inline Arrival* look(Lane& lane, const Comm& comm, int source, int tag) ASHLAR_REQUIRES(lane.lock) {
  return static_cast<Arrival*>(lane.p2p->unexpected.find({match::Key::place(comm.context, source), tag}));
}
/// The same, after a round of progress when there is none yet.
Arrival* look_twice(Lane& lane, const Comm& comm, int source, int tag) ASHLAR_REQUIRES(lane.lock);

/// Waits for such a message. Fails when the only process that could send it is gone. Blocks.
Status await_message(Lane& lane, Comm& comm, int source, int tag, const char* call, Arrival** found)
    ASHLAR_REQUIRES(lane.lock);

inline void report(const Arrival& arrival, MPI_Status* status) {
  fill_status(status, arrival.key.source(), arrival.key.tag, message_bytes(arrival.am));
}

}  // namespace ashlar::p2p
