#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "framework/coll/block.h"
#include "framework/coll/call_log.h"
#include "framework/coll/choose.h"
#include "framework/coll/engine.h"
#include "framework/coll/mismatch.h"
#include "framework/coll/network.h"
#include "framework/coll/op.h"
#include "framework/coll/p2p_wire.h"
#include "framework/object/comm.h"

namespace ashlar::coll {

/// What the collectives of one communicator share. Made by the communicator's first collective, so that communicators
/// without one cost nothing, and destroyed with it. Guarded by the lane's lock.
struct CommState : ListHook {  // hook: LaneCollectives::states
  CommState(Comm& owner, const Plan& of);
  ~CommState();
  CommState(const CommState&) = delete;
  CommState& operator=(const CommState&) = delete;

  /// The choice for a call, counted and, the first time, recorded.
  Status choose(const Call& call, Choice* out, Without without = {});
  /// The user's own choice for this communicator, before every rule; an empty name takes it back. All members must
  /// agree. Fails with MPI_ERR_ARG when there is no such algorithm.
  Status prefer(Collective collective, const char* algorithm);
  /// The name of that, or "".
  const char* preferred(Collective collective) const;
  /// Logs that a collective begins on this rank, or a start of a persistent one. `checked`: check.collectives compares
  /// it, so messages need not.
  LoggedCall& enter(Tag tag, const Call& call, bool checked, std::uint32_t start = 0) {
    LoggedCall& called = calls.enter(tag, call.what, call.root, call.bytes, position, start);
    latest = &called;
    if (comm.inter) [[unlikely]] {  // the two groups pass different ones
      called.root = 0;
      called.bytes = 0;
    }
    if (checked) [[unlikely]]
      called.flags = LoggedCall::kUncompared;
    return called;
  }
  /// Fails when the communicator's collectives are over.
  Status may_begin(LoggedCall& called) {
    if (!failures.any) [[likely]]
      return {};
    return coll::may_begin(*this, called);
  }
  /// For the collective that is just beginning, of a component whose state follows the order of calls: the number that
  /// it counts up to. Ranks with different positions have mismatched for good (mismatch.h).
  void count_to(std::uint64_t number) { latest->position = position = number; }
  /// For what a component makes with all members in their first collective of it: from its begin until this one knows
  /// that all have it. A member whose collective fails meanwhile must not take part in later ones as if it had it, so
  /// its position differs from that of members that are done.
  void begin_forming() {
    position |= kForming;
    calls.each_open([](LoggedCall& called) { called.position |= kForming; });
  }
  void formed() {
    position &= ~kForming;
    calls.each([](LoggedCall& called) { called.position &= ~kForming; });
  }
  /// From now on the algorithms of this component are passed over on this communicator. All members must agree.
  void disable(unsigned component) { disabled |= 1u << component; }

  Comm& comm;
  Engine& engine;
  P2pWire wire;
  const Plan* const plan;
  ChunkCache chunks;
  CallLog calls;
  LoggedCall* latest = nullptr;                                      // the collective that was entered last
  static constexpr std::uint64_t kForming = std::uint64_t{1} << 63;  // in a position: begin_forming
  std::uint64_t position = 0;  // how far collectives that keep state in the order of the calls have counted
  FailureReports failures;
  Network network;
  /// Of an intercommunicator: the collectives of the local group among itself; made with this.
  CommState* own_group = nullptr;
  std::uint32_t disabled = 0;
  std::uint32_t in_flight = 0;  // nonblocking and persistent collectives that the progress loop completes
  /// By the number of the component.
  static constexpr unsigned kSlots = 8;
  Slot slots[kSlots];

 private:
  struct Preference {
    Rule rule;
    CatalogueEntry* entry;
    std::string algorithm;
  };
  std::array<std::unique_ptr<Preference>, kCollectives> preferred_;
  bool any_preferred_ = false;
};

/// The shape of a group whose ranks are on these nodes.
Shape shape_of(const std::vector<std::uint32_t>& nodes);

/// Makes the state of a communicator that has none.
Status make_state(Comm& comm);

/// The state of `comm`, made when missing.
inline Status state_of(Comm& comm, CommState** out) {
  if (comm.coll == nullptr) [[unlikely]]
    ASHLAR_TRY(make_state(comm));
  *out = comm.coll;
  return {};
}

}  // namespace ashlar::coll
