#pragma once
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// The running value of a whole-vector reduction, always in rank order, without a copy of the input. It starts as the
/// caller's own vector, which is never written, and from the first merge on lives in one of two buffers: the result and
/// a temporary, which change places as the order of operands asks. Trivial, so it may live in a coroutine.
struct Accumulator {
  std::byte* value;     // what has been reduced so far
  std::byte* incoming;  // where the next operand arrives
  std::byte* result;    // where the value shall lie in the end
  bool borrowed;        // `value` is the caller's send buffer

  static Accumulator start(Op& op, const Call& call, std::byte* result) {
    auto* const own = static_cast<std::byte*>(call.send.data);
    return Accumulator{own, op.scratch_items(call.send.count, *call.send.type), result, own != result};
  }
  DataView value_view(const Call& call) const { return DataView{value, call.send.count, call.send.type}; }
  DataView incoming_view(const Call& call) const { return DataView{incoming, call.send.count, call.send.type}; }

  /// Takes in the operand that has arrived: of ranks that all come before, or all after, those reduced so far.
  void merge(Op& op, const Call& call, bool incoming_first) {
    const MPI_Count count = call.send.count;
    if (borrowed) {
      op.combine(call, incoming_first ? incoming : value, incoming_first ? value : incoming, result, count);
      value = result;
      borrowed = false;
    } else if (incoming_first) {
      op.combine(call, incoming, value, count);
    } else {
      op.combine(call, value, incoming, incoming, count);
      std::byte* const other = value;
      value = incoming;
      incoming = other;
    }
  }
  /// Brings the value to its place.
  void finish(Op& op, const Call& call) { op.copy_items(value, result, call.send.count, *call.send.type); }
};

}  // namespace ashlar::coll::p2p
