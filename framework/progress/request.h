#pragma once
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "framework/base/slab.h"
#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/object/comm.h"
#include "framework/object/object.h"
#include "framework/progress/gate.h"
#include "framework/progress/lane.h"

namespace ashlar {

class Request;

/// What a kind of request can do beyond completing. Called under the lane's lock.
struct RequestOps {
  /// Gives the storage back; the request is complete or inactive, and no handle refers to it.
  void (*release)(Request&) = nullptr;
  /// Starts an inactive persistent request. nullptr: not persistent.
  Status (*start)(Request&) = nullptr;
  /// Tries to cancel an active request; it completes either way. nullptr: cannot be cancelled.
  Status (*cancel)(Request&) = nullptr;
  /// Writes what an active request waits for: "MPI_Recv from rank 3 tag 7 on 'MPI_COMM_WORLD'".
  void (*describe)(const Request&, char* out, std::size_t room) = nullptr;
  /// The process that an active request waits for has failed. Ends the request, with `outcome` unless more is known of
  /// it. False: it cannot end yet, because the transport still writes into its buffer; the completion of that ends it.
  /// nullptr: requests of this kind never wait for one process.
  bool (*peer_failed)(Request&, Status outcome) = nullptr;
};

/// One operation in flight, of any room: the object behind an MPI_Request, and what gates count.
/// Fields are guarded by the lock of its lane; `state` may be read without it.
class Request : public Object {
 public:
  enum class State : std::uint8_t { kInactive, kActive, kComplete };
  enum : std::uint8_t {
    kPersistent = 1,
    kCancelled = 2,
    kHeld = 4,  // a user's handle, or a blocking call, refers to it; otherwise it releases itself when it completes
    kGeneralized = 8  // the user performs the operation and says what came of it
  };

  Request(const RequestOps& o, Comm& c) : Object(Kind::kRequest), ops(&o), comm(&c) {}

  // One cache line: all that completion touches.
  std::atomic<State> state{State::kActive};
  std::uint8_t flags = kHeld;
  Rank source = MPI_ANY_SOURCE;  // of the message received, for the status
  Tag tag = MPI_ANY_TAG;
  Status outcome;
  MPI_Count bytes = 0;  // received, for the status
  const RequestOps* ops;
  Comm* comm;            // its lane's lock guards this request; errors are raised on it
  Gate* gate = nullptr;  // an operation of the library's own: tells this gate, then releases itself

  Lane& lane() const { return *comm->lane; }
  bool active() const { return state.load(std::memory_order_relaxed) == State::kActive; }
  bool complete() const { return state.load(std::memory_order_acquire) == State::kComplete; }
  bool persistent() const { return (flags & kPersistent) != 0; }

  /// The operation is over. `this` may be gone afterwards.
  void finish(Status result) {
    outcome = result;
    state.store(State::kComplete, std::memory_order_release);
    if (gate == nullptr && (flags & kHeld) != 0) [[likely]]
      return;
    finish_unheld();
  }

 private:
  void finish_unheld();
};

static_assert(sizeof(Request) == kCacheLine, "completion must touch one line");

}  // namespace ashlar
