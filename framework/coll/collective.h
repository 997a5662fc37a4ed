#pragma once
#include <cstdint>

namespace ashlar::coll {

/// The collective operations. The order is that of the names in collective.cc and of the compiled rule table.
enum class Collective : std::uint8_t {
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kNeighborAllgather,
  kNeighborAllgatherv,
  kNeighborAlltoall,
  kNeighborAlltoallv,
  kNeighborAlltoallw,
  kCount_
};
inline constexpr int kCollectives = static_cast<int>(Collective::kCount_);

/// Those whose operands are combined.
constexpr bool reduces(Collective what) {
  return what == Collective::kReduce || what == Collective::kAllreduce || what == Collective::kReduceScatter ||
         what == Collective::kReduceScatterBlock || what == Collective::kScan || what == Collective::kExscan;
}
/// Those among the neighbours of a topology.
constexpr bool among_neighbours(Collective what) { return what >= Collective::kNeighborAllgather; }

/// "allreduce": as in rules, parameters and sentences.
const char* name_of(Collective collective);
/// False when `name` is none of them.
bool parse_collective(const char* name, Collective* out);
/// What "bytes" in a rule counts for this collective, in words. Every rank of a call computes the same number from its
/// own arguments: that is what makes a rule choose alike everywhere.
const char* quantity_of(Collective collective);

}  // namespace ashlar::coll
