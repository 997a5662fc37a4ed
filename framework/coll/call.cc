#include "framework/coll/call.h"

namespace ashlar::coll {

MPI_Count Call::quantity(int ranks) const {
  switch (what) {
    case Collective::kBcast:
      return recv.type != nullptr ? recv.bytes() : 0;
    case Collective::kReduce:
    case Collective::kAllreduce:
    case Collective::kReduceScatter:
    case Collective::kReduceScatterBlock:
    case Collective::kScan:
    case Collective::kExscan:
      // The root of an intercommunicator has no operand.
      return send.type != nullptr ? send.bytes() : recv.type != nullptr ? recv.bytes() : 0;
    case Collective::kGather:
      // The root's own contribution may be in place; its count per rank says the same.
      return recv.type != nullptr ? recv.bytes() : send.type != nullptr ? send.bytes() : 0;
    case Collective::kScatter:
      return send.type != nullptr ? send.bytes() : recv.type != nullptr ? recv.bytes() : 0;
    case Collective::kAllgather:
    case Collective::kAlltoall:
      return recv.bytes();
    case Collective::kAllgatherv: {
      MPI_Count items = 0;
      for (int i = 0; i < ranks; ++i) items += recv_counts[static_cast<std::size_t>(i)];
      return items * recv.type->size();
    }
    default:
      return 0;
  }
}

}  // namespace ashlar::coll
