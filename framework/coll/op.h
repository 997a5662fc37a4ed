#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/coll/block.h"
#include "framework/coll/call.h"
#include "framework/coll/co.h"
#include "framework/coll/wire.h"
#include "framework/datatype/data_view.h"

namespace ashlar::coll {

struct Algorithm;
struct CommState;
struct PartGroup;

/// What a component keeps beside a communicator, or a persistent operation; it drops its own.
struct Slot {
  void* data = nullptr;
  void (*drop)(void* data) = nullptr;
};

/// What a rule may set beside the name of an algorithm. 0: the algorithm's own choice.
struct Arguments {
  MPI_Count segment = 0;  // bytes per piece of a pipeline
  int window = 0;         // operations in flight of a linear algorithm
  int radix = 0;          // of a k-nomial tree
  int leaders = 0;        // of each node, where ranks are on several
};

/// A buffer as its packed bytes: the buffer itself when it is dense, else a temporary.
struct Packed {
  std::byte* bytes = nullptr;
  MPI_Count size = 0;
  bool is_buffer = false;
};

/// One collective in flight on one rank: the only interface that an algorithm uses.
/// Failures stick: after the first one, every further operation does nothing, and the next awaited gate returns it. So
/// an algorithm checks nothing but what it awaits.
/// Guarded by the lane's lock, which the caller of an algorithm holds.
class Op {
 public:
  Op(Wire& wire, Rank rank, int size, Tag tag, Block& block, bool blocking)
      : wire_(wire), block_(block), rank_(rank), size_(size), tag_(tag), blocking_(blocking) {}
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  /// A part of `whole` among the members of another communicator; it outlives nothing of `whole`.
  Op(Op& whole, Wire& wire, Rank rank, int size) : Op(whole, wire, rank, size, whole.blocking_) {}
  /// Not blocking: the whole goes on with something else, and awaits the part's end later.
  Op(Op& whole, Wire& wire, Rank rank, int size, bool blocking)
      : Op(wire, rank, size, static_cast<Tag>(whole.tag_ | kPartTag), whole.block_, blocking) {}

  /// Numbers of collectives stay below; parts carry the number of their whole with this bit.
  static constexpr Tag kPartTag = 1 << 30;

  Rank rank() const { return rank_; }
  int size() const { return size_; }
  Tag tag() const { return tag_; }
  bool blocking() const { return blocking_; }
  Wire& wire() const { return wire_; }
  Block& block() const { return block_; }
  const Arguments& arguments() const { return arguments_; }
  void set_arguments(const Arguments& arguments) { arguments_ = arguments; }
  /// The communicator's state (nullptr in simulations), and the number of the component that serves this call.
  CommState* comm() const { return comm_; }
  unsigned component() const { return component_; }
  void set_place(CommState* comm, unsigned component, const Algorithm& algorithm) {
    comm_ = comm;
    component_ = component;
    algorithm_ = &algorithm;
  }
  /// The algorithm that serves this call; nullptr where one is called by its function.
  const Algorithm* algorithm() const { return algorithm_; }
  /// Where the component keeps its state for this operation: the communicator's slot for it, or the operation's own.
  /// A persistent operation has its own, because its starts need not come in the same order on every rank.
  Slot& slot() const;
  void set_own_slot(Slot* slot) { own_slot_ = slot; }
  bool has_own_slot() const { return own_slot_ != nullptr; }
  /// Of a part whose component may keep state in the order of the calls (part.h); nullptr: of any other operation.
  const PartGroup* part_group() const { return part_group_; }
  void set_part_group(const PartGroup& group) { part_group_ = &group; }

  // --- memory: lives until the operation is over --------------------------------------------------------------------
  /// Uninitialised bytes; nullptr (and a failure) when there are none left.
  std::byte* scratch(MPI_Count bytes);
  /// Room for `count` items of a type as they lie in memory, addressed as a user's buffer would be.
  std::byte* scratch_items(MPI_Count count, const Datatype& type);
  /// The packed bytes of `view`; a temporary is filled from it (packed_in) or left for unpack() (packed_out).
  Packed packed_in(const DataView& view);
  Packed packed_out(const DataView& view);
  /// Brings the bytes back when they are not the buffer's own.
  void unpack(const Packed& packed, const DataView& view);

  // --- messages -----------------------------------------------------------------------------------------------------
  void send(Rank to, const DataView& data, Gate& gate);
  void recv(Rank from, const DataView& data, Gate& gate);
  void send(Rank to, const void* bytes, MPI_Count length, Gate& gate) { send(to, view(bytes, length), gate); }
  void recv(Rank from, void* bytes, MPI_Count length, Gate& gate) { recv(from, view(bytes, length), gate); }

  // --- local work ---------------------------------------------------------------------------------------------------
  /// Any two buffers of equal signature.
  void copy(const DataView& from, const DataView& to);
  void copy_bytes(const void* from, void* to, MPI_Count length) {
    if (failure_.ok() && length > 0 && from != to) std::memcpy(to, from, static_cast<std::size_t>(length));
  }
  /// `count` items from one buffer to another of the same type.
  void copy_items(const void* from, void* to, MPI_Count count, Datatype& type);
  /// inout = in op inout.
  void combine(const Call& call, const void* in, void* inout, MPI_Count count) {
    if (failure_.ok() && count > 0) call.op->apply(in, inout, count, *call.send.type);
  }
  /// out = a op b; out may be b.
  void combine(const Call& call, const void* a, const void* b, void* out, MPI_Count count) {
    if (failure_.ok() && count > 0) call.op->apply3(a, b, out, count, *call.send.type);
  }

  // --- children -----------------------------------------------------------------------------------------------------
  /// Counts a coroutine that was just started on `gate`, which takes its outcome. Children whose messages could be
  /// confused must not be in flight together.
  void join(Co child, Gate& gate);

  void fail(Status status) {
    if (failure_.ok()) failure_ = status;
  }
  Status failure() const { return failure_; }
  /// Before another run in the same block.
  void forget_failure() { failure_ = Status{}; }

  static DataView view(const void* bytes, MPI_Count length);

 private:
  Wire& wire_;
  Block& block_;
  CommState* comm_ = nullptr;
  Slot* own_slot_ = nullptr;
  const PartGroup* part_group_ = nullptr;
  unsigned component_ = 0;
  const Algorithm* algorithm_ = nullptr;
  const Rank rank_;
  const int size_;
  const Tag tag_;
  const bool blocking_;
  Status failure_;
  Arguments arguments_;
};

// --- what the awaiters need of the operation ------------------------------------------------------------------------

inline void* Promise::take_frame(Op& owner, std::size_t bytes) noexcept {
  void* const frame = owner.block().take(bytes);
  if (frame == nullptr) [[unlikely]]
    no_memory(owner);
  return frame;
}

inline Status Promise::resume_from(Status outcome) noexcept {
  if (!outcome.ok()) [[unlikely]]
    op->fail(outcome);
  return op->failure();
}

}  // namespace ashlar::coll
