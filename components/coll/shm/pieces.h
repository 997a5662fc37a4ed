#pragma once
#include "components/coll/shm/config.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

/// A payload that goes through the segment in pieces, one visit each: whole items that fit into a place.
struct Pieces {
  MPI_Count total;
  MPI_Count each;

  static Pieces of(const Op& op, MPI_Count bytes, MPI_Count item) {
    const auto room = static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(op.size())));
    return Pieces{bytes, item > 0 && item <= room ? room / item * item : room};
  }
  MPI_Count visits() const { return (total + each - 1) / each; }
  MPI_Count bytes_at(MPI_Count at) const { return total - at < each ? total - at : each; }
};

/// The first of as many visits, which follow each other without anyone else's in between.
inline Visit begin_pieces(Op& op, const Pieces& pieces) {
  Visit visit = Visit::begin(op, kInline + 1);
  if (visit.group != nullptr) visit.group->next_number += static_cast<std::uint64_t>(pieces.visits() - 1);
  return visit;
}
/// Gives up the visits behind the one that has ended: what is left of the payload has gone otherwise, or not at all.
inline void leave_rest(const Visit& visit, const Pieces& pieces, MPI_Count at) {
  visit.group->turn += static_cast<std::uint64_t>(pieces.visits() - 1 - at / pieces.each);
}

}  // namespace ashlar::coll::shm
