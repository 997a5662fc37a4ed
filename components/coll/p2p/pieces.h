#pragma once
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// Where the pieces of a reduce_scatter lie in the vector, in items: piece i belongs to rank i. Trivial, so it may live
/// in a coroutine.
struct Pieces {
  const MPI_Count* begins;  // of each piece, and the end; nullptr: no memory, noted as the operation's failure
  MPI_Count extent;

  static Pieces of(Op& op, const Call& call) {
    const int size = op.size();
    auto* const begins = reinterpret_cast<MPI_Count*>(op.scratch((size + 1) * MPI_Count{sizeof(MPI_Count)}));
    if (begins == nullptr) return Pieces{nullptr, 0};
    begins[0] = 0;
    for (Rank i = 0; i < size; ++i) begins[i + 1] = begins[i] + call.piece(i);
    return Pieces{begins, call.send.type->extent()};
  }
  MPI_Count begin(int i) const { return begins[i]; }
  MPI_Count size(int first, int last) const { return begins[last] - begins[first]; }
  MPI_Count size(int i) const { return size(i, i + 1); }
  MPI_Count largest(int ranks) const {
    MPI_Count most = 0;
    for (int i = 0; i < ranks; ++i) most = size(i) > most ? size(i) : most;
    return most;
  }
  /// Pieces [first, last) in a buffer that holds the whole vector.
  std::byte* at(void* vector, int first) const { return static_cast<std::byte*>(vector) + begins[first] * extent; }
  DataView view(const Call& call, void* vector, int first, int last) const {
    return DataView{at(vector, first), size(first, last), call.send.type};
  }
};

}  // namespace ashlar::coll::p2p
