#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/object/comm.h"
#include "framework/plugin/component.h"
#include "framework/progress/gate.h"
#include "framework/progress/lane.h"

namespace ashlar {
class Request;
struct DataView;
namespace plugin {
class AccountWriter;
}
}  // namespace ashlar

/// What the rest of the kernel needs of point-to-point: set-up by the runtime, and messages for collectives.
namespace ashlar::p2p {

/// Parameters p2p.*; the rows in params.h describe this block.
struct Config {
  std::uint64_t eager_limit = 0;                      // bytes; 0: from the endpoint's cost model
  std::uint64_t unexpected_limit = 4u << 20;          // bytes of one peer's messages kept before it must ask first
  std::uint64_t unexpected_total_limit = 256u << 20;  // the same of all peers together
  std::uint64_t get_min = 0;                       // bytes from which a large message is read by the receiver; 0: model
  bool single_copy = true;                         // whether it may be read by the receiver at all
  bool shared_posts = true;                        // shared_post.h: whether receives are posted in shared memory
  std::uint64_t shared_post_min = 256u << 10;      // bytes of the smallest; 0: as get_min
  std::uint64_t shared_post_patience = 1'000'000;  // ns that a sender waits for an answer before it looks for them
  std::uint64_t request_limit = 16u << 20;         // sends, and receives, that there may be at a time on a lane
  bool check_datatypes = false;                    // check.datatypes: messages tell their type signatures
  bool check_ready = false;                        // check.ready: ready sends find out whether a receive is posted
};

struct ProcessState;

/// Gives `lane` matching queues and request storage and registers the message handlers. Before traffic. `process` is
/// what the lanes of the process share; it outlives them.
Status attach(Lane& lane, const Config& config, ProcessState& process);
/// Drops them; everything still active is forgotten. After the last traffic.
void detach(Lane& lane);
/// Performance variables of point-to-point on `lane`; the values live as long as the lane.
std::span<const ashlar_pvar> pvars(Lane& lane);

/// Forgets messages that arrived for a communicator that is being destroyed (both of its contexts), and its buffer.
void drop_context(Comm& comm) ASHLAR_REQUIRES(comm.lane->lock);
/// Gives up the unexpected messages of all communicators but that of `kept_context`, which outlives the others: none
/// can receive them any more. False: not all of their senders could be notified yet; to be called again after progress.
bool give_up_all(Lane& lane, std::uint32_t kept_context) ASHLAR_REQUIRES(lane.lock);

/// Whether it is one of the complete requests that are given out again and again, and that nobody has to wait for.
bool is_constant(const Request& request);

/// Whether no operation of this process is active on `lane`, requests that nobody waits for included.
bool quiet(Lane& lane) ASHLAR_REQUIRES(lane.lock);

/// Whether an operation of this process on `comm` is active, requests that nobody waits for included.
bool busy(const Comm& comm) ASHLAR_REQUIRES(comm.lane->lock);

/// Says what the calls that wait on `lane` wait for, and which operations are active on it.
void account_for(Lane& lane, plugin::AccountWriter& account) ASHLAR_REQUIRES(lane.lock);

/// What a rank called, as the messages of a collective carry it: which collective, in the low bits, and its quantity of
/// bytes. 0: not known, and not compared.
struct CallWord {
  std::uint64_t value = 0;

  static constexpr unsigned kWhatBits = 5;
  static constexpr std::uint64_t kMostInBrief = (std::uint64_t{1} << (32 - kWhatBits)) - 1;
  static CallWord of(unsigned what, std::uint64_t bytes) { return {bytes << kWhatBits | (what + 1)}; }
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
  Status (*mismatched)(Comm& comm, Tag tag, Rank from, CallWord theirs, std::uint64_t arrived, MPI_Count expected);
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
Status post_send(Comm& comm, const DataView& data, Rank to, Tag tag, Gate& gate, CallWord called = {})
    ASHLAR_REQUIRES(comm.lane->lock);
Status post_recv(Comm& comm, const DataView& data, Rank from, Tag tag, Gate& gate, CallWord called = {})
    ASHLAR_REQUIRES(comm.lane->lock);

/// Cancels the receives that have counted themselves on `gate` and that no message has matched yet: their operation has
/// failed, and what they wait for may never be sent.
void abandon(Lane& lane, Gate& gate) ASHLAR_REQUIRES(lane.lock);

}  // namespace ashlar::p2p
