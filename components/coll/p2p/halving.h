#pragma once
#include "components/coll/p2p/tree.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// A vector dealt in `parts` parts of whole items, as the reduce-scatter algorithms see it: operands are read from
/// `source` until a part was combined, and from `result` afterwards.
struct Vector {
  const Call* call;
  std::byte* source;
  std::byte* result;
  Split split;

  MPI_Count bytes_before(int part) const { return split.begin(part) * call->send.type->extent(); }
  /// Parts [first, last) of a buffer that holds the whole vector.
  DataView view(std::byte* buffer, int first, int last) const {
    return DataView{buffer + bytes_before(first), split.size(first, last), call->send.type};
  }
  /// Adds `operand` (parts [first, last) alone) to our value of these parts, leaving the sum in `result`.
  void add(Op& op, const std::byte* operand, int first, int last) const {
    const MPI_Count at = bytes_before(first);
    op.combine(*call, operand, source + at, result + at, split.size(first, last));
  }
};

/// The aligned window of `width` parts that contains part `place`.
inline int window_begin(int place, int width) { return place & ~(width - 1); }

}  // namespace ashlar::coll::p2p
