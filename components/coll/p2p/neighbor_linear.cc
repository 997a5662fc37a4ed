#include "components/coll/p2p/algorithms.h"
#include "framework/coll/op.h"

namespace ashlar::coll::p2p {

/// All at once: a message for each edge of the topology. Textbook; serves every neighbourhood collective.
/// 1 round, a message for each edge that carries bytes. Of several edges between the same two ranks, the first outgoing
/// belongs to the first incoming. On a grid of one or two ranks along a dimension both neighbours there are the same
/// rank: what it sent down the dimension comes from above, so the receives of each pair are posted the other way round.
Co neighbor_linear(Op& op, const Call& call) {
  const std::span<const Rank> sources = call.topology->sources();
  const std::span<const Rank> destinations = call.topology->destinations();
  const bool grid = call.topology->form() == MPI_CART;
  const bool same_for_all = call.what == Collective::kNeighborAllgather || call.what == Collective::kNeighborAllgatherv;
  Gate gate;
  Status st;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t k = grid ? i ^ 1 : i;
    if (sources[k] == MPI_PROC_NULL) continue;
    const DataView block = call.recv_block(static_cast<int>(k));
    if (block.bytes() > 0) op.recv(sources[k], block, gate);
  }
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    if (destinations[i] == MPI_PROC_NULL) continue;
    const DataView block = same_for_all ? call.send : call.send_block(static_cast<int>(i));
    if (block.bytes() > 0) op.send(destinations[i], block, gate);
  }
  st = co_await gate;
  co_return st;
}

}  // namespace ashlar::coll::p2p
