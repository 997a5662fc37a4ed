#pragma once
#include "components/coll/shm/module.h"
#include "components/coll/shm/operands.h"

namespace ashlar::coll::shm {

/// A payload that goes through bounce buffers in pieces, with a sequence number each: as many whole items as fit.
/// Pieces of a broadcast are larger where it then has no more of them than there are buffers: its root writes them all
/// and waits for no rank. At 4 ranks on 2 cores an MPI_Ibcast of 1 MiB adds 60 us to the work beside it in 8 pieces,
/// and 190 us in 16.
struct Pieces {
  MPI_Count total;
  MPI_Count each;

  static Pieces of(const Op& op, const Call& call) {
    const auto ranks = static_cast<std::uint32_t>(op.size());
    auto room = static_cast<MPI_Count>(module().piece_bytes(ranks));
    if (call.what == Collective::kBcast) {
      constexpr auto kBuffers = static_cast<MPI_Count>(kBufferSlots);
      const MPI_Count buffer_share = (call.bytes + kBuffers - 1) / kBuffers;
      if (buffer_share > room && buffer_share <= static_cast<MPI_Count>(module().buffer_bytes(ranks)))
        room = buffer_share;
    }
    const MPI_Count item = reduces(call.what) ? call.send.type->size() : 0;
    return Pieces{.total = call.bytes, .each = item > 0 && item <= room ? room / item * item : room};
  }
  MPI_Count count() const { return (total + each - 1) / each; }
  MPI_Count bytes_at(MPI_Count at) const { return total - at < each ? total - at : each; }
};

}  // namespace ashlar::coll::shm
