#pragma once
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Where the outgoing blocks of an all-to-all are: the caller's send buffer, or, in place, a packed copy of the receive
/// buffer (whose blocks are replaced while others still wait to leave).
struct Outgoing {
  const Call* call;
  std::byte* copy;         // nullptr: not in place
  const MPI_Count* begin;  // of each block in the copy

  static Outgoing of(Op& op, const Call& call) {
    if (!call.in_place) return Outgoing{&call, nullptr, nullptr};
    const int size = op.size();
    auto* const begin = reinterpret_cast<MPI_Count*>(op.scratch((size + 1) * MPI_Count{sizeof(MPI_Count)}));
    if (begin == nullptr) return Outgoing{&call, nullptr, nullptr};
    begin[0] = 0;
    for (int i = 0; i < size; ++i) begin[i + 1] = begin[i] + call.recv_block(i).bytes();
    std::byte* const copy = op.scratch(begin[size]);
    for (int i = 0; i < size; ++i) op.copy(call.recv_block(i), Op::view(copy + begin[i], begin[i + 1] - begin[i]));
    return Outgoing{&call, copy, begin};
  }
  DataView block(Rank to) const {
    return copy == nullptr ? call->send_block(to) : Op::view(copy + begin[to], begin[to + 1] - begin[to]);
  }
};

}  // namespace ashlar::coll::p2p
