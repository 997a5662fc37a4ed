#pragma once
#include <cstdint>
#include <memory>

#include "framework/coll/block.h"
#include "framework/coll/op.h"
#include "framework/coll/p2p_wire.h"
#include "framework/coll/room.h"
#include "framework/object/comm.h"

namespace ashlar::coll {

/// What the collectives of one communicator share. Made on the communicator's first collective, so that communicators
/// that never use one cost nothing. Guarded by the lane's lock.
struct CommState {
  CommState(Comm& owner, const Plan& of);
  ~CommState();
  CommState(const CommState&) = delete;
  CommState& operator=(const CommState&) = delete;

  /// The choice for a call, counted and, the first time, recorded.
  Status choose(const Call& call, Choice* out);
  /// From now on the algorithms of this component are passed over on this communicator. All members must agree.
  void disable(unsigned component) { disabled |= 1u << component; }

  Comm& comm;
  P2pWire wire;
  const Plan* const plan;
  ChunkCache chunks;
  std::uint32_t disabled = 0;
  /// By the number of the component.
  static constexpr unsigned kSlots = 4;
  Slot slots[kSlots];
};

/// The state of `comm`, made when missing. Fails with MPI_ERR_UNSUPPORTED_OPERATION on an intercommunicator.
Status state_of(Comm& comm, CommState** out);

}  // namespace ashlar::coll
