#pragma once
#include <atomic>
#include <cstdint>

#include "components/coll/shm/segment/ticket.h"
#include "framework/coll/op.h"

namespace ashlar::coll::shm {

/// A block as its sender lists it. `where`: the distance from the beginning of the sender's bounce buffer when the
/// block lies there, else its address in the sender's memory (addresses are larger than buffers). `claimed`: 1 from
/// when one of its ends has begun to copy it; that one alone copies it.
struct SendRow {
  std::uint64_t where;
  std::uint64_t bytes;
  Rank to;
  std::atomic<std::uint32_t> claimed;
};
/// The same block as its receiver lists it. `address`: where it goes, or 0 when only the receiver can put it there.
struct RecvRow {
  std::uint64_t address;
  std::uint64_t bytes;
  Rank from;
};
/// The length in the rows of a rank that had no memory to take part.
inline constexpr std::uint64_t kUnable = ~std::uint64_t{0};

/// Bytes of one rank's table, at the beginning of its bounce buffer.
inline std::size_t table_bytes(std::size_t sent, std::size_t received) {
  return sent * sizeof(SendRow) + received * sizeof(RecvRow);
}

/// The blocks that one rank sends and receives, in the order of its arguments: one for every rank, or one for every
/// edge of its topology. Rows of edges to no rank and of this rank's own blocks are there as well, so that a row is
/// found by its number.
class Edges {
 public:
  Edges(const Op& op, const Call& call) : call_(call), ranks_(op.size()) {}

  bool of_topology() const { return call_.topology != nullptr; }
  int sent() const { return of_topology() ? call_.topology->outdegree() : ranks_; }
  int received() const { return of_topology() ? call_.topology->indegree() : ranks_; }
  Rank receiver(int block) const {
    return of_topology() ? call_.topology->destinations()[static_cast<std::size_t>(block)] : block;
  }
  Rank sender(int block) const {
    return of_topology() ? call_.topology->sources()[static_cast<std::size_t>(block)] : block;
  }
  /// The i-th block that is received, in the order in which those of one sender match. On a grid of one or two ranks
  /// along a dimension both neighbours there are the same rank: what it sent down the dimension comes from above.
  int in_order(int i) const { return of_topology() && call_.topology->form() == MPI_CART ? i ^ 1 : i; }
  /// How many blocks before this one go to the same rank; how many before the step-th come from the same one.
  int earlier_to(int block) const;
  int earlier_from(int step) const;

 private:
  const Call& call_;
  const int ranks_;
};

/// A rank's table in the segment: a row for each of its blocks. Its writer publishes it with its line.
struct Table {
  std::byte* rows;
  int sent, received;

  /// Rank r's; for another rank, once it has published.
  static Table of(const Ticket& ticket, const Edges& edges, Rank r);
  /// This rank's, with the lengths in its line.
  static Table begin_own(const Ticket& ticket, const Edges& edges);

  SendRow& out(int i) const { return reinterpret_cast<SendRow*>(rows)[i]; }
  RecvRow& in(int i) const {
    return reinterpret_cast<RecvRow*>(rows + static_cast<std::size_t>(sent) * sizeof(SendRow))[i];
  }
  /// The row of its rank's n-th block to (from) a rank, in the order in which they match; -1: there is none.
  int nth_to(Rank to, int n) const;
  int nth_from(const Edges& order, Rank from, int n) const;
  /// Marks every row: the rank has no memory to take part.
  void set_unable() const;
};

}  // namespace ashlar::coll::shm
