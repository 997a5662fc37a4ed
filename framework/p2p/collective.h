#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/object/comm.h"
#include "framework/plugin/transport.h"
#include "framework/progress/gate.h"
#include "framework/progress/lane.h"

namespace ashlar {
struct DataView;
}

/// Messages of collectives, on the collective context of a communicator.
namespace ashlar::p2p {

/// What a rank called, as the messages of a collective carry it: which collective, in the low bits, and its quantity of
/// bytes. 0: not known, and not compared.
struct CallSignature {
  std::uint64_t value = 0;

  static constexpr unsigned kWhatBits = 5;
  static constexpr std::uint64_t kMostInBrief = (std::uint64_t{1} << (32 - kWhatBits)) - 1;
  static CallSignature of(unsigned what, std::uint64_t bytes) { return {bytes << kWhatBits | (what + 1)}; }
  bool known() const { return value != 0; }
  unsigned what() const { return static_cast<unsigned>(value & ((1u << kWhatBits) - 1)) - 1; }
  std::uint64_t bytes() const { return value >> kWhatBits; }
  /// What fits beside the tag of a message that is sent whole: of a large quantity that it is large.
  std::uint32_t brief() const {
    const std::uint64_t quantity = bytes() < kMostInBrief ? bytes() : kMostInBrief;
    return known() ? static_cast<std::uint32_t>(quantity << kWhatBits | (what() + 1)) : 0;
  }
};

/// What point-to-point asks the collectives, which know what was called.
struct CollectiveHooks {
  /// A message of `arrived` bytes has come for a receive of `expected` that is not of that size, or whose sender called
  /// something else. Returns what the receive fails with. Under the lane's lock, inside a handler or a post.
  Status (*mismatched)(Comm& comm, Tag tag, Rank from, CallSignature theirs, std::uint64_t arrived, MPI_Count expected);
  /// Takes kCollectiveCall and kCollectiveFailed.
  void (*notice)(Lane&, const ashlar_am&);
};
/// `hooks` lives as long as the lane.
void hook_collectives(Lane& lane, const CollectiveHooks& hooks) ASHLAR_REQUIRES(lane.lock);

/// Tells `peer` about a collective on the communicator of this context: kCollectiveCall, or kCollectiveFailed. At most
/// 48 bytes. Never blocks; does nothing when the peer is gone.
void send_notice(Lane& lane, std::uint32_t context, PeerId peer, bool failed, Tag tag, const void* bytes,
                 std::size_t length) ASHLAR_REQUIRES(lane.lock);

/// Ends what a collective has under way on `comm` in messages whose tag has the bits `tag` in the places of `mask`:
/// receives that nothing has matched fail with `outcome`, and so do sends that nothing has matched, as soon as their
/// receiver has confirmed that.
void end_collective(Comm& comm, Tag tag, Tag mask, Status outcome) ASHLAR_REQUIRES(comm.lane->lock);

/// For collectives, on the communicator's collective context. A returned failure is immediate; ok means finished or,
/// when it is not, that the operation has counted itself on `gate` (which takes its outcome). A message of fewer bytes
/// than the receive asked for is MPI_ERR_COUNT, of more MPI_ERR_TRUNCATE; the gate takes that, whenever it came.
/// `data`'s memory and type stay valid until then. Never blocks.
Status post_send(Comm& comm, const DataView& data, Rank to, Tag tag, Gate& gate, CallSignature called = {})
    ASHLAR_REQUIRES(comm.lane->lock);
Status post_recv(Comm& comm, const DataView& data, Rank from, Tag tag, Gate& gate, CallSignature called = {})
    ASHLAR_REQUIRES(comm.lane->lock);

/// Cancels the receives that have counted themselves on `gate` and that no message has matched yet: their operation has
/// failed, and what they wait for may never be sent.
void abandon(Lane& lane, Gate& gate) ASHLAR_REQUIRES(lane.lock);

}  // namespace ashlar::p2p
