#pragma once
#include "components/coll/shm/module.h"
#include "components/coll/shm/operands.h"

namespace ashlar::coll::shm {

/// A payload that goes through bounce buffers in pieces, with a sequence number each: as many whole items as fit.
struct Pieces {
  MPI_Count total;
  MPI_Count each;

  static Pieces of(const Op& op, const Call& call) {
    const auto room = static_cast<MPI_Count>(module().piece_bytes(static_cast<std::uint32_t>(op.size())));
    const MPI_Count item = reduces(call.what) ? call.send.type->size() : 0;
    return Pieces{.total = call.bytes, .each = item > 0 && item <= room ? room / item * item : room};
  }
  MPI_Count count() const { return (total + each - 1) / each; }
  MPI_Count bytes_at(MPI_Count at) const { return total - at < each ? total - at : each; }
};

}  // namespace ashlar::coll::shm
