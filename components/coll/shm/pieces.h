#pragma once
#include "components/coll/shm/config.h"
#include "components/coll/shm/payload.h"

namespace ashlar::coll::shm {

/// A payload that goes through the segment in pieces, a number each: whole items that fit into a place.
struct Pieces {
  MPI_Count total;
  MPI_Count each;

  static Pieces of(const Op& op, const Call& call) {
    const auto room = static_cast<MPI_Count>(place_bytes(static_cast<std::uint32_t>(op.size())));
    const MPI_Count item = reduces(call.what) ? call.send.type->size() : 0;
    return Pieces{call.bytes, item > 0 && item <= room ? room / item * item : room};
  }
  MPI_Count count() const { return (total + each - 1) / each; }
  MPI_Count bytes_at(MPI_Count at) const { return total - at < each ? total - at : each; }
};

}  // namespace ashlar::coll::shm
